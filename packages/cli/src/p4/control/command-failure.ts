/** A command that could not be done. The user sees the message. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** @throws CommandFailure always */
export function fail(message: string): never {
  throw new CommandFailure(message);
}

/** Checks the number of a command's words. */
export function count(words: readonly string[], least: number, most: number = least): void {
  if (words.length >= least && words.length <= most) return;
  const wanted =
    most === least ? `${least}` : most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`;
  fail(`${wanted} words are needed behind the command, not ${words.length}`);
}

/** A whole number from 0. */
export function whole(text: string | undefined, what: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) fail(`${what} is a whole number, not ${text ?? 'left out'}`);
  return Number(text);
}
