/** What a user can mend: said in one line, without a stack. */
export class LogFault extends Error {}
