import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { KafkaLogin } from '@int/sink-kafka';

/** Access to the brokers. */
export interface KafkaAccess {
  /** `host:port` of one or more brokers. */
  readonly bootstrap: readonly string[];
  /** Login with SASL. */
  readonly sasl?: KafkaLogin;
  /** TLS options, see `tls.connect`. */
  readonly tls?: TlsOptions;
}
