/** Thrown to leave what is under way when a partition is not this process's any more. */
export class Revoked extends Error {
  override readonly name = 'Revoked';
}
