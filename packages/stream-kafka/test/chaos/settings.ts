/** What the programs and their supervisor say to each other. */
import type { KafkaAccess } from '@int/stream-kafka';

/** What a collector's program is given. */
export interface CollectorSetting {
  readonly access: KafkaAccess;
  readonly prefix: string;
  /** Where it listens. */
  readonly address: string;
  /** Of its spool. */
  readonly directory: string;
  readonly durability: 'memory' | 'spool';
}

/** What a processor's program is given. */
export interface ProcessorSetting {
  readonly access: KafkaAccess;
  readonly prefix: string;
}

/** With which a program ends that could not begin, as no broker let it in. */
export const EXIT_NOT_BEGUN = 3;
