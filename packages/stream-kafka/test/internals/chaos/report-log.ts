import { setTimeout as sleep } from 'node:timers/promises';
import { MessageReader, messageKind } from '@int/sink-kafka';
import { Admin } from '@platformatic/kafka';
import { topicsOf } from '../../../src/findings.js';
import { has } from '../../../src/kafka/answers.js';
import type { KafkaLink } from '../../../src/kafka/link.js';
import { flowKey } from '../../../src/message-key.js';
import { readPlace, stateKey } from '../../../src/state-log.js';
import { PARTITIONS } from '../../processor-options.js';
import { committedIn, until } from '../log.js';

const WINDOW_US = 1_000_000n;
/** Partitions of the topic when it is made again: fewer and more than at first. */
const OTHER_PARTITIONS = [3, 6] as const;
/** As an outside looker-on sees that a topic takes nothing more: its ends are the same after this time. */
const STILL_MS = 400;
const LIMIT_MS = 90_000;

/** A report in the topic. */
export interface StoredReport {
  /** Ids of the windows that it belongs to, of its flow and of its switches. */
  readonly flowWindow: string | null;
  readonly switchWindows: readonly string[];
}

interface Placed {
  readonly partition: number;
  readonly offset: number;
  /** Of the record: the same in a partition is a repeat. */
  readonly id: string;
  readonly report: StoredReport;
}

/** What a topic had in it when it was deleted. */
interface DeletedTopic {
  readonly id: string;
  /** Offset behind the last record, by partition. */
  readonly ends: readonly number[];
  readonly placed: readonly Placed[];
}

/** The topic of reports, as somebody outside sees it, who deletes it now and then and makes it again with other partitions. */
export class ReportLog {
  readonly #link: KafkaLink;
  readonly #bootstrap: readonly string[];
  readonly #prefix: string;
  readonly #deleted: DeletedTopic[] = [];
  /** One at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(link: KafkaLink, bootstrap: readonly string[], prefix: string) {
    this.#link = link;
    this.#bootstrap = bootstrap;
    this.#prefix = prefix;
  }

  /** Makes the topic of states, as one that keeps all that was ever in it. To be called before the processors are there. */
  async keepStates(): Promise<void> {
    const states = 1 + PARTITIONS;
    const wish = { topic: topicsOf(this.#prefix).state, partitions: states, make: states, replicas: 1 };
    await this.#link.topic(wish);
  }

  /**
   * Deletes the topic, and makes it again, with other partitions, unless somebody else does.
   * @param which of the {@link OTHER_PARTITIONS}
   * @param forMs between the two
   * @param part parts all sinks from the broker, so that nothing comes behind what is seen
   * @param join ends that, once the topic is deleted
   */
  remake(which: number, forMs: number, part: () => void, join: () => void): Promise<void> {
    const remade = this.#last.then(() => this.#remake(OTHER_PARTITIONS[which]!, forMs, part, join));
    this.#last = remade.catch(() => {});
    return remade;
  }

  async #remake(partitions: number, forMs: number, part: () => void, join: () => void): Promise<void> {
    const { reports: topic } = topicsOf(this.#prefix);
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...this.#bootstrap], timeout: 10_000, retries: 0 });
    try {
      part();
      await this.#deletedTopic(topic);
      await this.#again(
        'deleting the topic',
        () => admin.deleteTopics({ topics: [topic] }),
        'UNKNOWN_TOPIC_OR_PARTITION',
      );
      join();
      await sleep(forMs);
      const wish = { topics: [topic], partitions, replicas: 1 };
      await this.#again('making the topic', () => admin.createTopics(wish), 'TOPIC_ALREADY_EXISTS');
    } finally {
      await admin.close().catch(() => {});
    }
  }

  /** Notes what is in the topic, once nothing comes any more. */
  async #deletedTopic(topic: string): Promise<void> {
    let before = '';
    let failure: unknown;
    await until(
      async () => {
        try {
          const { id, leaders } = (await this.#link.layout(topic))!;
          const ends = await Promise.all(leaders.map((_, at) => this.#link.offset(topic, at, 'latest')));
          const now = ends.join();
          if (now === before) {
            this.#deleted.push({ id, ends, placed: await this.#placed(topic, leaders.length) });
            return true;
          }
          before = now;
        } catch (error) {
          // The broker is away.
          failure = error;
          before = '';
        }
        return false;
      },
      STILL_MS,
      LIMIT_MS,
      () => failure,
    );
  }

  /** Does something that a broker which is away may not do at once, or may have done without an answer. */
  async #again(what: string, action: () => Promise<unknown>, done = ''): Promise<void> {
    let failure: unknown = what;
    const isDone = async (): Promise<boolean> => {
      try {
        await action();
        return true;
      } catch (error) {
        failure = error;
        return has(error, [done]);
      }
    };
    await until(isDone, 300, LIMIT_MS, () => failure);
  }

  /** Partitions of the topic now. */
  async #partitions(): Promise<number> {
    return (await this.#link.layout(topicsOf(this.#prefix).reports))?.leaders.length ?? 0;
  }

  /**
   * All reports that are to be in windows, each once: those in the topic now, and of the topics before it what the group's state says
   * that it has read. The rest was deleted before it was read.
   */
  async reports(): Promise<{ readonly read: StoredReport[]; readonly lost: number }> {
    const { reports: topic } = topicsOf(this.#prefix);
    const now = await this.#placed(topic, await this.#partitions());
    const found = new Map<string, StoredReport>();
    let lost = 0;
    const places = this.#deleted.length === 0 ? new Map<string, number>() : await this.#places();
    for (const { id, ends, placed } of this.#deleted) {
      for (const [partition, end] of ends.entries()) {
        const place = places.get(`${id} ${partition}`) ?? 0;
        if (place > end) throw new Error(`partition ${partition} was read up to ${place}, and seen up to ${end}`);
      }
      for (const { partition, offset, id: record, report } of placed) {
        if (offset < (places.get(`${id} ${partition}`) ?? 0)) found.set(`${partition} ${record}`, report);
        else lost++;
      }
    }
    for (const { partition, id, report } of now) found.set(`${partition} ${id}`, report);
    return { read: [...found.values()], lost };
  }

  /** How far each partition of each topic was read at last, by id of the topic and partition. */
  async #places(): Promise<Map<string, number>> {
    const { state } = topicsOf(this.#prefix);
    const { leaders } = (await this.#link.layout(state))!;
    const key = Buffer.from(stateKey('offset'));
    const places = new Map<string, number>();
    const all = await committedIn(this.#link, state, leaders.length);
    // The first partition is that of the network.
    for (const [at, records] of all.slice(1).entries()) {
      for (const record of records) {
        if (record.value === null || record.key === null || !key.equals(record.key)) continue;
        const { offset, topicId } = readPlace(record.value);
        places.set(`${topicId} ${at}`, offset);
      }
    }
    return places;
  }

  async #placed(topic: string, partitions: number): Promise<Placed[]> {
    const reader = new MessageReader({ frames: 1 });
    const found: Placed[] = [];
    for (const [partition, records] of (await committedIn(this.#link, topic, partitions)).entries()) {
      for (const { headers, value, offset } of records) {
        const { type, format } = messageKind(headers);
        if (type !== 'report' || value === null) continue;
        reader.clear();
        if (reader.read(value, format ?? undefined) !== 0) throw new Error('a report that cannot be read');
        const { id, flow, timeNs, path } = reader.record(0);
        const startUs = BigInt(timeNs) / 1000n - ((BigInt(timeNs) / 1000n) % WINDOW_US);
        const flowWindow = flow === null ? null : `flow-${Buffer.from(flowKey(flow)).toString('hex')}-${startUs}`;
        const switchWindows = path.map((nodeId) => `switch-${nodeId}-${startUs}`);
        found.push({ partition, offset, id, report: { flowWindow, switchWindows } });
      }
    }
    return found;
  }
}
