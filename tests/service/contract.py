"""The bodies that the service description shows, as pydantic models: what is sent (4.2, 4.3) and a record (2.5).

Fields that the description does not show are tolerated: a service may grow. Fields that it shows may be absent or null
where it does not say that they are always there.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

NumberOrText = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]


class _Shown(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class Degree(StrEnum):
    """Allowed degrees of an education entry (2.3)."""

    HIGH_SCHOOL_DIPLOMA = "high_school_diploma"
    ASSOCIATE_DEGREE = "associate_degree"
    BACHELORS_DEGREE = "bachelors_degree"
    MASTERS_DEGREE = "masters_degree"
    DOCTORATE_DEGREE = "doctorate_degree"
    CERTIFICATE_OR_DIPLOMA = "certificate_or_diploma"


class EmploymentType(StrEnum):
    """Allowed employment types of an experience entry (2.4)."""

    FULL_TIME = "full_time"
    PART_TIME = "part_time"
    CONTRACT = "contract"
    INTERN = "intern"


class QuestionReference(_Shown):
    """The object form of `job_post_question` (2.2)."""

    id: int
    question_key: str | None = None


class AnswerItem(_Shown):
    """An element of `answers` (2.2)."""

    job_post_question: int | QuestionReference
    answer: str | None = None
    answer_file: NumberOrText | None = None


class EducationEntry(_Shown):
    """An education entry as it is sent (2.3)."""

    school_name: str | None = None
    degree: Degree | None = None
    major: str | None = None
    start_date: date | None = None
    end_date: date | None = None
    currently_pursuing: bool | None = None


class ExperienceEntry(_Shown):
    """An experience entry as it is sent (2.4)."""

    company_name: str | None = None
    position_title: str | None = None
    employment_type: EmploymentType | None = None
    start_date: date | None = None
    end_date: date | None = None
    currently_employed: bool | None = None


class RecordedEducation(EducationEntry):
    """An education entry of a candidate record (2.5): its sample degree is `bachelor`, which may not be sent."""

    degree: str | None = None  # type: ignore[assignment]


class RecordedExperience(ExperienceEntry):
    """An experience entry of a candidate record (2.5)."""

    employment_type: str | None = None  # type: ignore[assignment]


class FileObject(_Shown):
    """A file (2.6). The presigned URL is a credential: it is neither kept nor shown."""

    id: int | None = None
    path: str | None = None
    name: str | None = None
    type: str | None = None
    file_size: int | None = None
    base: str | None = None
    presigned_url: str | None = Field(default=None, repr=False)
    uploaded_at: datetime | None = None


class User(_Shown):
    """`user` of a candidate record (2.5)."""

    id: int | None = None
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    profile_img: FileObject | None = None


class JobPostLink(_Shown):
    """`job_post` and `source_job_post` of a candidate record (2.5)."""

    hash: str | None = None
    title: str | None = None


class Tag(_Shown):
    """An element of `tags` (2.5)."""

    id: int | None = None
    title: str | None = None


class PipelineStage(_Shown):
    """`company_pipeline` of a candidate record (2.5)."""

    id: int | None = None
    queue: int | None = None
    name: str | None = None
    key: str | None = None
    created_at: datetime | None = None


class CandidateRecord(_Shown):
    """The 201 answer of Add Candidate To Talent Pool (2.5)."""

    id: int
    user: User | None = None
    job_post: JobPostLink | None = None
    source_job_post: JobPostLink | None = None
    company: str | None = None
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    cv: FileObject | None = None
    photo: FileObject | None = None
    phone_number: str | None = None
    address: str | None = None
    city: str | None = None
    country: str | None = None
    education: list[RecordedEducation] | None = None
    work_experience: list[RecordedExperience] | None = None
    tags: list[Tag] | None = None
    suitability: str | None = None
    score: int | None = None
    summary: str | None = None
    skills: str | None = None
    total_work_experience: int | None = None
    seniority: str | None = None
    company_pipeline: PipelineStage | None = None
    rejected_mail_sended: bool | None = None
    source_platform: str | None = None
    source_type: str | None = None
    error_status: bool | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class ApplicationBody(_Shown):
    """The body of Apply to Job Post (4.2)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: str
    first_name: str
    last_name: str
    cv: NumberOrText
    terms_of_use: bool | None = None
    answers: list[AnswerItem]


class PoolCandidateBody(_Shown):
    """The body of Add Candidate To Talent Pool (4.3)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: str
    first_name: str
    last_name: str
    cv: NumberOrText
    source_platform: str | None = None
