import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { KafkaLogin } from '@int/sink-kafka';
import type { ConnectionOptions } from '@platformatic/kafka';

/** How brokers are reached. */
export interface KafkaAccess {
  /** `host:port` of one or more brokers. */
  readonly bootstrap: readonly string[];
  /** How to log in. */
  readonly sasl?: KafkaLogin;
  /** As the options of `tls.connect`. */
  readonly tls?: TlsOptions;
}

/** What the clients of @platformatic/kafka have in common. */
export interface ClientOptions {
  clientId: string;
  bootstrapBrokers: string[];
  sasl?: NonNullable<ConnectionOptions['sasl']>;
  tls?: NonNullable<ConnectionOptions['tls']>;
}

/** The options of one more client; a new object each time, because clients write into theirs. */
export function clientOptions(access: KafkaAccess, clientId: string): ClientOptions {
  return {
    clientId,
    bootstrapBrokers: [...access.bootstrap],
    ...(access.sasl === undefined ? {} : { sasl: access.sasl }),
    ...(access.tls === undefined ? {} : { tls: access.tls }),
  };
}
