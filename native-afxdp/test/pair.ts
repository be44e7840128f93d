import { onTestFinished } from 'vitest';
import { limit } from '../../.ci/test/requires.js';
import { type PairOptions, VethPair } from '../../.ci/test/veth-pair.js';
import type { Build } from './addon.js';
import { killPrograms, type Program, type StartOptions, start } from './program.js';
import type { Traffic } from './traffic.program.js';

const TRAFFIC: URL = new URL('traffic.program.ts', import.meta.url);

/** Both ways to receive, for `it.each`. */
export const MODES = ['driver', 'generic'] as const;

/** The first of them, or both with INT_LONG=1: where another test has both, and the mode is the kernel's matter. */
export const MOSTLY_DRIVER: readonly (typeof MODES)[number][] =
  process.env.INT_LONG === '1' ? MODES : MODES.slice(0, 1);

/** Both builds of the addon, for `describe.each`; what they are called there. */
export const BUILDS = [
  ['the addon', 'plain'],
  ['the addon under the sanitizers', 'sanitized'],
] as const satisfies readonly (readonly [string, Build])[];

/** One of them where others run both, or both with INT_LONG=1. */
export function mostly(build: Build): readonly (readonly [string, Build])[] {
  return process.env.INT_LONG === '1' ? BUILDS : BUILDS.filter(([, each]) => each === build);
}

let refusal: Promise<string | null> | undefined;

/**
 * A pair of interfaces for the running test, removed when it ends, together with the programs that it has started. The
 * test is skipped where the kernel or the rights do not allow AF_XDP sockets, BPF programs or namespaces.
 */
export async function pairFor(options: PairOptions = {}): Promise<VethPair> {
  const pair = VethPair.make(options);
  onTestFinished(async () => {
    await killPrograms();
    pair.remove();
  });
  refusal ??= refusalOf(pair);
  const reason = await refusal;
  if (reason !== null) limit(`AF_XDP or BPF is refused here: ${reason}`);
  return pair;
}

/** What the kernel does not allow, or null. Anything but a limit of kernel or rights is for the tests to find. */
async function refusalOf(pair: VethPair): Promise<string | null> {
  const program = await start<Traffic>(TRAFFIC, { at: pair.right });
  const failure = await program.call('support', pair.right.interface);
  await program.stop();
  const isLimit = failure?.code === 'ERR_XDP_KERNEL' || failure?.code === 'ERR_XDP_PERMISSION';
  return isLimit ? failure.message : null;
}

/** Starts the program that sends and receives. */
export function startTraffic(options: StartOptions): Promise<Program<Traffic>> {
  return start<Traffic>(TRAFFIC, options);
}
