import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { KafkaLogin } from '@int/sink-kafka';

/** How brokers are reached. */
export interface KafkaAccess {
  /** `host:port` of one or more brokers. */
  readonly bootstrap: readonly string[];
  /** How to log in. */
  readonly sasl?: KafkaLogin;
  /** As the options of `tls.connect`. */
  readonly tls?: TlsOptions;
}
