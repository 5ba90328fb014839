package sqlite

// hotWrites are the statements on the way of an attempt, prepared once.
var hotWrites = []string{
	sqlInsertRow, sqlOutcomeOf, sqlRowThere,
	sqlInsertAttempt, sqlAttempt, sqlAttemptThere, sqlInsertPending, sqlDropPending, sqlPendingAmbiguous, sqlOverwritten,
	sqlEntries, sqlInsertPost, sqlHead, sqlTakeSeq, sqlOpenedSeq, sqlConfirm, sqlDoubt, sqlClose,
	sqlClaim, sqlClaimWaits, sqlPutClaim, sqlReleaseClaim, sqlAnswerClaim,
	sqlBusy, sqlUnresolved, sqlWaiters, sqlPutWaiter, sqlDropWaiter,
	sqlTurnState, sqlMark, sqlFinish, sqlMissed,
}

// hotReads are the statements of every request's early looks.
var hotReads = []string{
	sqlTurnByToken, sqlTurnByID, sqlKeyByID, sqlEntries, sqlEditable, sqlClaim, sqlClaimWaits, sqlOutcomeOf,
	sqlOpenCount, sqlDue,
}
