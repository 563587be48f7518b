"""The candidate record of service description 2.5, as the sandbox answers a talent pool addition with it."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from importer.sandbox.company import Company, TalentPool

_PRESIGNED = "https://files.example.com/{path}?X-Amz-Expires=3600&X-Amz-Signature={signature}"


def candidate_record(number: int, body: dict[str, Any], pool: TalentPool, company: Company, now: datetime) -> Any:
    """The full record of the candidate that a body (4.3) creates, `number` being its id."""
    at = timestamp(now)
    person = {"email": body["email"], "first_name": body["first_name"], "last_name": body["last_name"]}
    photo = _file_object(number * 10 + 1, f"photos/{number}.jpg", at)
    job_post = _job_post(company)
    return {
        "id": number,
        "user": {"id": number + 5000, **person, "profile_img": photo},
        "job_post": job_post,
        "source_job_post": job_post,
        "company": company.name,
        **person,
        "cv": _file_object(number * 10, f"cvs/{body['cv']}.pdf", at),
        "photo": photo,
        "phone_number": "",
        "address": "",
        "city": "",
        "country": "",
        "education": [],
        "work_experience": [],
        "tags": [{"id": 1, "title": pool.title}],
        "suitability": "suitable",
        "score": 0,
        "summary": "",
        "skills": "",
        "total_work_experience": 0,
        "seniority": "",
        "company_pipeline": {"id": 1, "queue": 1, "name": "New", "key": "new", "created_at": at},
        "rejected_mail_sended": False,
        "source_platform": body.get("source_platform", ""),
        "source_type": "applied_from_candidate",
        "error_status": False,
        "created_at": at,
        "updated_at": at,
    }


def timestamp(moment: datetime) -> str:
    """A moment in UTC as the service writes it: ISO 8601 with Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _job_post(company: Company) -> dict[str, str]:
    """A record names a job post even for a pool; the description does not show which."""
    post = next(iter(company.job_posts.values()), None)
    return {"hash": post.hash if post else "", "title": post.title if post else ""}


def _file_object(number: int, path: str, at: str) -> dict[str, Any]:
    folder, _, name = path.partition("/")
    signature = hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "id": number,
        "path": path,
        "name": name,
        "type": "application/pdf" if folder == "cvs" else "image/jpeg",
        "file_size": 48_213,
        "base": "https://files.example.com/",
        "presigned_url": _PRESIGNED.format(path=path, signature=signature),
        "uploaded_at": at,
    }
