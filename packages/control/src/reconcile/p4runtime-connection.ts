import {
  type Entity,
  P4RuntimeClient,
  type P4RuntimeClientOptions,
  P4RuntimeError,
  type Pipeline,
  type p4config,
  type SessionState,
  type Update,
} from '@int/p4runtime';
import type { Change } from '../change/change.js';
import type { SwitchConnection, SwitchContents } from './switch-connection.js';

export interface P4RuntimeConnectionOptions extends Omit<P4RuntimeClientOptions, 'keep'> {
  readonly switchId: number;
  /** What the switch gets when it has no pipeline, as after a restart. Without it such a switch is not written to. */
  readonly pipeline?: Pipeline;
  /** Meters, registers and value sets that are read in addition to tables and objects, by their names. */
  readonly cells?: readonly string[];
  /** Entities of one switch at most: an answer with more is refused. 262,144 by default. */
  readonly maxEntities?: number;
}

/**
 * A switch over P4Runtime: by a socket, or in this process by the transport of a `P4RuntimeServer`. It connects by itself, now
 * and whenever the session breaks.
 */
export class P4RuntimeConnection implements SwitchConnection {
  readonly switchId: number;
  readonly client: P4RuntimeClient;
  readonly #options: P4RuntimeConnectionOptions;
  #listener: () => void = () => {};
  #isClosed = false;
  #stopWaiting: () => void = () => {};
  /** Whether the P4Info was asked for since this controller became the primary. */
  #knowsPipeline = false;

  constructor(options: P4RuntimeConnectionOptions) {
    this.#options = options;
    this.switchId = options.switchId;
    this.client = new P4RuntimeClient({ ...options, onState: (state) => this.#changed(state) });
    void this.#connect();
  }

  get isPrimary(): boolean {
    return this.client.isPrimary;
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  async read(): Promise<SwitchContents> {
    const p4info = await this.#pipeline();
    const { maxEntities = 262_144 } = this.#options;
    const entities: Entity[] = [];
    for await (const entity of this.client.read(...questionsOf(p4info, this.#options.cells ?? []))) {
      if (entities.length === maxEntities) {
        throw new P4RuntimeError('ERR_P4RUNTIME_ANSWER', `the switch has more than ${maxEntities} entities`);
      }
      entities.push(entity);
    }
    return { p4info, entities };
  }

  async write(changes: readonly Change[]): Promise<void> {
    await this.#pipeline();
    await this.client.write(changes.map(updateOf));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopWaiting();
    await this.client.close();
  }

  async #connect(): Promise<void> {
    const { firstMs, maxMs } = this.#options.retry ?? { firstMs: 100, maxMs: 5000 };
    for (let waitMs = firstMs; !this.#isClosed; waitMs = Math.min(2 * waitMs, maxMs)) {
      try {
        await this.client.connect();
        return;
      } catch (error) {
        // The client tries again by itself only what it once had.
        if (!P4RuntimeError.is(error)) throw error;
        this.#options.onState?.({ kind: 'disconnected', error });
      }
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#stopWaiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #changed(state: SessionState): void {
    this.#knowsPipeline = false;
    this.#options.onState?.(state);
    this.#listener();
  }

  async #pipeline(): Promise<p4config.P4Info> {
    const { p4info } = this.client;
    if (this.#knowsPipeline && p4info !== undefined) return p4info;
    // Another controller may have changed the pipeline meanwhile.
    let found = await this.client.getPipeline();
    if (found === undefined) {
      const { pipeline } = this.#options;
      if (pipeline === undefined) throw new P4RuntimeError('ERR_P4RUNTIME_REFUSED', 'the switch has no pipeline');
      await this.client.setPipeline(pipeline);
      found = pipeline;
    }
    this.#knowsPipeline = true;
    return this.client.p4info ?? found.p4info;
  }
}

function updateOf({ type, before, after }: Change): Update {
  if (type !== 'delete') return { type, entity: after! };
  if (before!.kind !== 'table-entry') return { type, entity: before! };
  const { kind, table, match, priority } = before!;
  return { type, entity: { kind, table, match, priority } };
}

/** Questions for everything that a controller may write, and for the cells that it names. */
export function questionsOf(info: p4config.P4Info, cells: readonly string[]): readonly Entity[] {
  const questions: Entity[] = [
    { kind: 'multicast-group', id: 0, replicas: [] },
    { kind: 'clone-session', id: 0, replicas: [] },
  ];
  const meters = new Set(info.directMeters.map(({ preamble }) => preamble?.id));
  const none = { cir: 0n, cburst: 0n, pir: 0n, pburst: 0n };
  for (const { preamble, isConstTable, constDefaultActionId, directResourceIds } of info.tables) {
    const table = preamble?.name ?? '';
    const meter = directResourceIds.some((id) => meters.has(id)) ? { meter: none } : {};
    if (!isConstTable) questions.push({ kind: 'table-entry', table, match: {}, ...meter });
    if (constDefaultActionId === 0)
      questions.push({ kind: 'table-entry', table, match: {}, isDefault: true, ...meter });
  }
  for (const { preamble } of info.actionProfiles) {
    const profile = preamble?.name ?? '';
    questions.push({ kind: 'member', profile, id: 0 }, { kind: 'group', profile, id: 0, members: [] });
  }
  for (const cell of cells) {
    const has = (list: readonly { readonly preamble?: p4config.Preamble | undefined }[]): boolean =>
      list.some(({ preamble }) => preamble?.name === cell);
    if (has(info.meters)) questions.push({ kind: 'meter', meter: cell });
    else if (has(info.registers)) questions.push({ kind: 'register', register: cell });
    else if (has(info.counters)) questions.push({ kind: 'counter', counter: cell });
    else if (has(info.valueSets)) questions.push({ kind: 'value-set', valueSet: cell, members: [] });
  }
  return questions;
}
