/** What the control plane did wrong, by a name that stays. */
export type ControlErrorCode =
  | 'unknown-table'
  | 'unknown-action'
  | 'unknown-extern'
  | 'unknown-key'
  | 'unknown-parameter'
  | 'wrong-arity'
  | 'wrong-kind'
  | 'bad-value'
  | 'bad-match'
  | 'bad-priority'
  | 'value-too-wide'
  | 'table-full'
  | 'duplicate-entry'
  | 'bad-handle'
  | 'expired-handle'
  | 'const-table'
  | 'const-default'
  | 'no-key'
  | 'not-indirect'
  | 'indirect'
  | 'bad-member'
  | 'member-in-use'
  | 'member-in-group'
  | 'member-not-in-group'
  | 'bad-group'
  | 'group-in-use'
  | 'empty-group'
  | 'no-selector'
  | 'no-counter'
  | 'no-meter'
  | 'no-timeout'
  | 'bad-index'
  | 'bad-rates'
  | 'bad-session'
  | 'bad-multicast'
  | 'no-target'
  /** There is no memory left, or there are as many as there may be. */
  | 'no-room'
  /** More than can be shown at once. */
  | 'too-many';

/** A request of the control plane that was refused. Nothing was changed by it. */
export class ControlError extends Error {
  override readonly name = 'ControlError';

  constructor(
    readonly code: ControlErrorCode,
    message: string,
  ) {
    super(message);
  }
}
