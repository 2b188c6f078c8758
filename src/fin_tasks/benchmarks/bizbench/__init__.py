"""BizBench: quantitative reasoning about business documents, in eight parts."""
