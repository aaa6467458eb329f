from .grader import grade_answers as grade_answers
from .grader import shared_graders as shared_graders
from .submission import grade_saved as grade_saved
