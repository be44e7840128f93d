/** Who may send, as options of a command have it. */
import { type Prefix, prefixOf } from '@int/network';
import { InvalidArgumentError } from 'commander';

/** An option parser for an address or a prefix that may be repeated. */
export function senderPrefix(text: string, previous?: readonly Prefix[]): readonly Prefix[] {
  const prefix = prefixOf(text);
  if (prefix === null) throw new InvalidArgumentError('Give an address or a prefix, such as 10.9.0.0/16.');
  return [...(previous ?? []), prefix];
}

/** Who may send, for people: `, from 10.9.0.0/16`; nothing if anybody may. */
export function fromText(from: readonly string[] | undefined): string {
  return from === undefined ? '' : `, from ${from.join(', ')}`;
}
