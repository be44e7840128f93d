/** What int control would write now, without writing. */
import {
  type ControllerMemory,
  compile,
  EventThresholds,
  type Intent,
  type P4RuntimeConnectionOptions,
  planChanges,
} from '@int/control';
import { questionsOf, withUndone } from '@int/control/internals';
import { type Entity, P4RuntimeClient, P4RuntimeError, type p4config } from '@int/p4runtime';
import { EXIT, type Io, say } from '../io.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { printable } from '../output/printable.js';
import { changeText, entityText, jsonOf } from './entity-text.js';
import { memoryOf, sinceBegun } from './journal.js';
import type { ControlNetwork } from './network.js';
import { compileOptionsOf } from './policy.js';
import type { ReadControl } from './read-control.js';

const ANSWER_MS = 5000;

/** What a switch has; text: why that is not known. */
async function contentsOf(way: P4RuntimeConnectionOptions, io: Io): Promise<readonly Entity[] | string> {
  const { switchId: _, pipeline: __, ...options } = way;
  // Reading needs no session, so a controller at work is not disturbed.
  const client = new P4RuntimeClient({ ...options, timeoutMs: ANSWER_MS });
  const end = (): void => void client.close();
  io.signal.addEventListener('abort', end, { once: true });
  try {
    const found = await client.getPipeline();
    const entities: Entity[] = [];
    if (found !== undefined)
      for await (const entity of client.read(...questionsOf(found.p4info, []))) entities.push(entity);
    return entities;
  } catch (error) {
    if (!P4RuntimeError.is(error)) throw error;
    return error.message;
  } finally {
    io.signal.removeEventListener('abort', end);
    await client.close();
  }
}

/** Shows the entries of each switch, and what differs from them. @returns the exit code */
export async function dryRun(
  read: ReadControl,
  { model, ways }: ControlNetwork,
  isJson: boolean,
  nowMs: number,
  io: Io,
): Promise<number> {
  const { topology, config } = read;
  const output = new DataOutput(io.stdout);
  const memory = config.journal === undefined ? null : memoryOf(read.telemetry.path(config.journal));
  // What the loop has in force stays, so it is no difference.
  const ofLoop = memory?.memory == null ? [] : intentsInForce(memory.memory, nowMs);
  const intents = [...sinceBegun(read.intents, memory), ...ofLoop];
  const { desired: compiled, conflicts, unplaced } = compile(model, intents, nowMs, compileOptionsOf(config));
  const p4infos = (id: number): p4config.P4Info | undefined => model.switches.get(id)?.p4info;
  const thresholds = new EventThresholds();
  thresholds.restore(memory?.memory?.thresholds ?? []);
  thresholds.follow(compiled, intents);
  const { desired } = withUndone(thresholds.apply(compiled), memory?.memory?.undone ?? [], p4infos);
  const asked = await Promise.all(ways.map(async (way) => [way.switchId, await contentsOf(way, io)] as const));
  if (io.signal.aborted) return EXIT.OK;
  const found = new Map<number, readonly Entity[]>();
  let isWhole = conflicts.length === 0 && unplaced.length === 0;
  for (const [switchId, contents] of asked) {
    if (typeof contents !== 'string') found.set(switchId, contents);
    else {
      isWhole = false;
      say(io, `${topology.switchText(switchId)}: ${contents}`);
    }
  }
  const { plan, obstacles } = planChanges(only(desired, found), found, { switches: only(model.switches, found) });
  const problems = [
    ...conflicts.map(({ message }) => message),
    ...unplaced.map(({ intent, message }) => (intent === null ? message : `${intent}: ${message}`)),
    ...obstacles.map(({ switchId, message }) => `${topology.switchText(switchId)}: ${message}`),
  ];
  for (const switchId of model.switches.keys()) {
    const wanted = desired.get(switchId) ?? [];
    const changes = plan.flatMap((step, index) =>
      step.filter((change) => change.switchId === switchId).map((change) => ({ step: index, change })),
    );
    const name = topology.switchText(switchId);
    if (isJson) {
      const entries = wanted.map(({ entity, intents, stage }) => ({ intents, stage, entity }));
      output.line(
        JSON.stringify(
          jsonOf({ type: 'switch', switchId, switch: name, isRead: found.has(switchId), entries, changes }),
        ),
      );
      continue;
    }
    output.line(`${name}: ${counted(wanted.length, 'entry', 'entries')}, ${counted(changes.length, 'change')}`);
    for (const { entity } of wanted) output.line(`    ${printable(entityText(entity))}`);
    for (const { step, change } of changes) output.line(`  ${step + 1} ${printable(changeText(change))}`);
  }
  if (isJson)
    output.line(JSON.stringify({ type: 'total', switches: model.switches.size, steps: plan.length, problems }));
  else for (const problem of problems) output.line(printable(`problem: ${problem}`));
  await output.finish();
  return isWhole && problems.length === 0 ? EXIT.OK : EXIT.INPUT;
}

/** Intents of the loop that are there, and are not over. */
const intentsInForce = ({ loop }: ControllerMemory, nowMs: number): readonly Intent[] =>
  loop.live
    .filter(
      ({ proposal: { state, expiresMs } }) =>
        (state === 'installed' || state === 'verified') && (expiresMs ?? 0) > nowMs,
    )
    .flatMap(({ proposal }) => proposal.intents);

const only = <T>(of: ReadonlyMap<number, T>, found: ReadonlyMap<number, unknown>): ReadonlyMap<number, T> =>
  new Map([...of].filter(([id]) => found.has(id)));
