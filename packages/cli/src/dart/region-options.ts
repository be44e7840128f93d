/** Options of commands that execute the RDMA packets of switches on a store. */
import { SoftRnic, type SoftRnicOptions } from '@int/dart';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from '../options.js';
import { address64, addStoreOptions, type StoreFlags } from './options.js';

export interface RegionFlags extends StoreFlags {
  readonly queuePair?: readonly number[];
  readonly remoteKey: number;
  readonly base: bigint;
  readonly service: 'uc' | 'rc';
}

function queuePairs(text: string, previous: readonly number[] = []): number[] {
  const number = wholeNumber('a queue pair', 0, 0xff_ffff)(text);
  if (previous.includes(number)) throw new InvalidArgumentError(`${number} is given twice.`);
  return [...previous, number];
}

/** Adds the options of a store, of the switches that write into it, and of the memory region that they write to. */
export function addRegionOptions(command: Command): Command {
  return addStoreOptions(command)
    .option('--queue-pair <N>', 'queue pair of a switch; repeat for more (1)', queuePairs)
    .option('--remote-key <N>', 'key of the memory region', wholeNumber('a key', 0, 0xffff_ffff), 1)
    .addOption(new Option('--base <ADDR>', 'address of the first slot').argParser(address64).default(0n, '0'))
    .addOption(
      new Option('--service <NAME>', 'uc: packets that are lost are lost; rc: with answers and atomics')
        .choices(['uc', 'rc'])
        .default('uc'),
    );
}

/** Ends the command if the options contradict each other. */
export function checkRegion({ service, base }: RegionFlags, command: Command): void {
  if (service === 'rc' && base % 8n !== 0n) command.error('error: atomics need a --base that is a multiple of 8');
}

/**
 * Makes the software RNIC that the options describe.
 * @throws RangeError if the region does not fit into the address space
 */
export function regionRnic(
  { queuePair = [1], remoteKey, base, service }: RegionFlags,
  target: NonNullable<SoftRnicOptions['regions']>[number]['target'],
  options: Pick<SoftRnicOptions, 'icrc' | 'state'>,
): SoftRnic {
  return new SoftRnic({
    ...options,
    queuePairs: queuePair.map((number) => ({ number, service })),
    regions: [{ remoteKey, base, target, access: { write: true, atomic: service === 'rc' } }],
  });
}
