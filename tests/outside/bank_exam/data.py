from pathlib import Path

from fin_tasks.benchmarks.target_score import check_documents
from fin_tasks.data.documents import documents_of_file
from fin_tasks.data.tables import read_json


def load(**_):
    file = Path(__file__).with_name("questions.jsonl")
    documents = read_json(file, ("id", "topic", "kind", "question", "answer"))
    for document in documents:
        document["prompt"] = (
            f"{document['question']} Close with 'Therefore, my answer is X.'"
        )
        document["target"] = f"Therefore, my answer is {document['answer']}."
    check_documents(documents, file)
    return documents_of_file(documents, file)
