/** Who may send, as options of a command have it. */
import type { CollectorOptions } from '@int/collector';
import { type Prefix, prefixOf } from '@int/network';
import { type Command, InvalidArgumentError } from 'commander';
import { given } from '../given.js';
import type { KnownNetwork } from '../network/known-network.js';
import { knownSwitches } from '../network/known-switches.js';

/** Value of the option for switches that there are not. */
export interface KeepUnknownFlags {
  readonly keepUnknownSwitches?: true;
}

/** Values of the options for who may send. */
export interface SenderFlags extends KeepUnknownFlags {
  readonly from?: readonly Prefix[];
}

/** An option parser for an address or a prefix that may be repeated. */
function senderPrefix(text: string, previous?: readonly Prefix[]): readonly Prefix[] {
  const prefix = prefixOf(text);
  if (prefix === null) throw new InvalidArgumentError('Give an address or a prefix, such as 10.9.0.0/16.');
  return [...(previous ?? []), prefix];
}

export function addFromOption(command: Command): Command {
  return command.option(
    '--from <PREFIX>',
    'who may send: an address or prefix; repeat for more (anybody)',
    senderPrefix,
  );
}

export function addKeepUnknownOption(command: Command): Command {
  return command.option(
    '--keep-unknown-switches',
    'with a topology: take reports of switches that are not in it, too (drop and count)',
  );
}

/** Adds the options for who may send. */
export function addSenderOptions(command: Command): Command {
  return addKeepUnknownOption(addFromOption(command));
}

/** Refuses the option for unknown switches where no topology can say which are known. */
export function checkKeepUnknown(
  flags: KeepUnknownFlags & { readonly topology?: unknown; readonly device?: unknown },
  command: Command,
): void {
  if (flags.keepUnknownSwitches !== true || flags.topology !== undefined || flags.device !== undefined) return;
  command.error('error: --keep-unknown-switches goes with --topology FILE');
}

/** Who may send, in the form of a source's options: the list of the options, else that of the device profile. */
export function fromOf({ from }: SenderFlags, { device }: KnownNetwork): { from?: readonly Prefix[] } {
  return given({ from: from ?? device.sources ?? undefined });
}

/** The switches that there are, in the form of a collector's options. */
export function knownOf(flags: KeepUnknownFlags, { topology }: KnownNetwork): Pick<CollectorOptions, 'knownSwitches'> {
  const known = knownSwitches(topology, flags.keepUnknownSwitches);
  return known === null ? {} : { knownSwitches: known };
}

/** Who may send, for people: `, from 10.9.0.0/16`; nothing if anybody may. */
export function fromText(from: readonly string[] | undefined): string {
  return from === undefined ? '' : `, from ${from.join(', ')}`;
}
