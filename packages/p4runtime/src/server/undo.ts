/** What takes back the updates of a batch, in the order of the updates. Absent: nothing will be taken back. */
export type UndoLog = (() => void)[] | undefined;
