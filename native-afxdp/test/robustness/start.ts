import type { VethPair } from '../../../.ci/test/veth-pair.js';
import { type Program, type StartOptions, start } from '../program.js';
import type { Robustness } from '../robustness.program.js';

/** Starts the program that misuses sockets, at the right end; it knows the names of the interfaces. */
export async function startAt(pair: VethPair, options: StartOptions = {}): Promise<Program<Robustness>> {
  const file = new URL('../robustness.program.ts', import.meta.url);
  const program = await start<Robustness>(file, { at: pair.right, flags: ['--expose-gc'], ...options });
  await program.call('interfaces', pair.left.interface, pair.right.interface);
  return program;
}
