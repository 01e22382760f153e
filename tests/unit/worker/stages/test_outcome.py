from worker.errors import ServiceError
from worker.limits.group import Exceeded
from worker.stages.outcome import Outcome, StageError, limited


def test_stage_errors_say_what_kind_of_failure_they_are() -> None:
    error = StageError("licence", "no token of vitis_hls; try again later")
    assert isinstance(error, ServiceError)
    assert (error.failure, str(error)) == ("licence", "no token of vitis_hls; try again later")


def test_an_outcome_without_failure_is_a_result() -> None:
    outcome = Outcome({"passed": True}, {"millrace": "1"})
    assert (outcome.failure, outcome.metrics, outcome.files) == (None, (), ())


def test_an_outcome_of_a_limit_says_which_and_keeps_the_tools() -> None:
    outcome = limited("csim", {"millrace": "1"}, Exceeded("processes", 64, 70))
    assert (outcome.verdict, outcome.tool_versions, outcome.failure) == (None, {"millrace": "1"}, "limit")
    assert str(outcome.error).startswith("the csim stage was stopped by its limit of processes: it used 70 processes")
