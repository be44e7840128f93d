import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import type { P4Data } from '../generated/p4/v1/p4data_pb.js';
import {
  type DigestEntry,
  DigestEntry_ConfigSchema,
  DigestEntrySchema,
  type DigestList,
  DigestListSchema,
  Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { writeData } from './data-spec.js';
import { invalid, refuse } from './refusal.js';
import type { DigestSchema } from './schema.js';
import type { P4RuntimeTarget } from './target.js';
import type { UndoLog } from './undo.js';

interface Config {
  readonly timeoutNs: number;
  readonly listSize: number;
  readonly ackTimeoutNs: bigint;
  readonly entry: DigestEntry;
}

/** Most messages of a list, and most of all lists that wait for an acknowledgement. */
const MOST_IN_LIST = 1024;
const MOST_CACHED = 65_536;

/** A list that was sent and not acknowledged. */
interface SentList {
  readonly sentNs: bigint;
  readonly keys: readonly string[];
}

/** One digest: what is buffered for the next list, and what was sent and not acknowledged. */
export class DigestState {
  #config: Config | undefined;
  #buffer = new Map<string, P4Data>();
  readonly #cache = new Map<string, bigint>();
  /** By id, oldest first. */
  readonly #sent = new Map<bigint, SentList>();
  #lastList = 0n;
  #cancel: (() => void) | undefined;
  /** Messages that were for nobody: the digest was not enabled, or there was no primary. */
  dropped = 0;

  /** @param send sends a list to the primary; false: there is none, or it takes no more */
  constructor(
    readonly schema: DigestSchema,
    readonly clock: Pick<P4RuntimeTarget, 'nowNs' | 'schedule'>,
    readonly send: (list: DigestList) => boolean,
  ) {}

  /** Its configuration; undefined: not enabled. */
  get entry(): DigestEntry | undefined {
    return this.#config?.entry;
  }

  /** @throws Refusal */
  write(type: Update_Type, entry: DigestEntry, undo: UndoLog): void {
    const { name, id } = this.schema;
    const before = this.#config;
    const isEnabled = before !== undefined;
    switch (type) {
      case Update_Type.INSERT:
        if (isEnabled) refuse(Code.AlreadyExists, `Digest ${id} already configured: ${name}`);
        this.#enable(this.#read(entry));
        break;
      case Update_Type.MODIFY:
        if (!isEnabled) refuse(Code.NotFound, `Digest ${id} not configured: ${name}`);
        this.#enable(this.#read(entry));
        break;
      case Update_Type.DELETE:
        if (!isEnabled) refuse(Code.NotFound, `Digest ${id} not configured: ${name}`);
        this.#enable(undefined);
        break;
      default:
        invalid('Update type is not set');
    }
    undo?.push(() => this.#enable(before));
  }

  /** Takes a message of the data plane. */
  receive(values: readonly bigint[]): void {
    const config = this.#config;
    if (config === undefined) {
      this.dropped++;
      return;
    }
    const key = values.join();
    if (this.#buffer.has(key) || this.#isCached(key, config)) return;
    let at = 0;
    this.#buffer.set(
      key,
      writeData(this.schema.data, () => values[at++] ?? 0n),
    );
    if (config.timeoutNs === 0 || this.#buffer.size >= config.listSize) this.#flush(config);
    else this.#cancel ??= this.clock.schedule(config.timeoutNs, () => this.#flush(config));
  }

  /** Ends the wait for an acknowledgement. Unknown lists are no error: the wait may be over. */
  acknowledge(listId: bigint): void {
    const list = this.#sent.get(listId);
    if (list === undefined) return;
    this.#sent.delete(listId);
    for (const key of list.keys) if (this.#cache.get(key) === listId) this.#cache.delete(key);
  }

  /** Forgets everything that waits. */
  close(): void {
    this.#enable(undefined);
  }

  #read({ config, digestId }: DigestEntry): Config {
    const { maxTimeoutNs = 0n, maxListSize = 0, ackTimeoutNs = 0n } = config ?? {};
    if (maxTimeoutNs < 0n || maxListSize < 0 || ackTimeoutNs < 0n) invalid('a timeout or size of a digest is negative');
    return {
      timeoutNs: Number(maxTimeoutNs),
      listSize: maxListSize === 0 ? MOST_IN_LIST : Math.min(maxListSize, MOST_IN_LIST),
      ackTimeoutNs,
      entry: create(DigestEntrySchema, {
        digestId,
        config: create(DigestEntry_ConfigSchema, { maxTimeoutNs, maxListSize, ackTimeoutNs }),
      }),
    };
  }

  #enable(config: Config | undefined): void {
    this.#config = config;
    this.#cancel?.();
    this.#cancel = undefined;
    if (config === undefined) {
      this.dropped += this.#buffer.size;
      this.#buffer.clear();
      this.#cache.clear();
      this.#sent.clear();
    } else if (this.#buffer.size > 0) this.#flush(config);
  }

  #flush(config: Config): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const buffer = this.#buffer;
    if (buffer.size === 0) return;
    this.#buffer = new Map();
    const listId = ++this.#lastList;
    const nowNs = this.clock.nowNs();
    const list = create(DigestListSchema, {
      digestId: this.schema.id,
      listId,
      data: [...buffer.values()],
      timestamp: nowNs,
    });
    if (!this.send(list)) {
      this.dropped += buffer.size;
      return;
    }
    if (config.ackTimeoutNs === 0n) return;
    const keys = [...buffer.keys()];
    this.#sent.set(listId, { sentNs: nowNs, keys });
    for (const key of keys) this.#cache.set(key, listId);
    for (const [id, { sentNs }] of this.#sent) {
      if (this.#cache.size <= MOST_CACHED && nowNs - sentNs < config.ackTimeoutNs) break;
      this.acknowledge(id);
    }
  }

  #isCached(key: string, { ackTimeoutNs }: Config): boolean {
    const listId = this.#cache.get(key);
    const list = listId === undefined ? undefined : this.#sent.get(listId);
    return list !== undefined && this.clock.nowNs() - list.sentNs < ackTimeoutNs;
  }
}
