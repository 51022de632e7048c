package waitlists

// AnswerAsMember answers an offer as a link or a message does.
var AnswerAsMember = (*Service).answerAsMember
