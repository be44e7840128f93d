import { type ConnectionOptions, SASLMechanisms, saslOAuthBearer, saslPlain, saslScramSha } from '@platformatic/kafka';
import type { KafkaLogin } from '../options.js';

type Sasl = NonNullable<ConnectionOptions['sasl']>;
type Authenticate = NonNullable<Sasl['authenticate']>;
type Answer = Parameters<Parameters<Authenticate>[6]>[1];

/** Fraction of a login's lifetime in which its connection is used, so that the last answers arrive in time. */
const USED = 0.8;

/**
 * The login of one connection. Brokers may limit its lifetime (`connections.max.reauth.ms`, or that of a token). The
 * client would log in again on the same connection between requests under way, which brokers refuse. So this class
 * tells when the lifetime is over, and the caller makes a new connection.
 */
export class ConnectionLogin {
  readonly #sasl: Sasl;
  #overAt = Number.POSITIVE_INFINITY;

  constructor(login: KafkaLogin) {
    this.#sasl = { ...login, authenticate: (...parts) => this.#authenticate(...parts) };
  }

  within<Options extends object>(options: Options): Options {
    return { ...options, sasl: this.#sasl };
  }

  /** Whether the lifetime is over, or nearly so. */
  get isOver(): boolean {
    return performance.now() >= this.#overAt;
  }

  #authenticate(...parts: Parameters<Authenticate>): void {
    const [mechanism, connection, api, username = '', password = '', token = '', callback] = parts;
    const done = (error: Error | null, response?: Answer): void => {
      if (error !== null || response === undefined) {
        callback(error);
        return;
      }
      const lifetimeMs = Number(response.sessionLifetimeMs);
      if (lifetimeMs > 0) this.#overAt = performance.now() + USED * lifetimeMs;
      callback(null, { ...response, sessionLifetimeMs: 0n });
    };
    if (mechanism === SASLMechanisms.PLAIN) saslPlain.authenticate(api, connection, username, password, done);
    else if (mechanism === SASLMechanisms.OAUTHBEARER) saslOAuthBearer.authenticate(api, connection, token, {}, done);
    else {
      const algorithm = mechanism === SASLMechanisms.SCRAM_SHA_512 ? 'SHA-512' : 'SHA-256';
      saslScramSha.authenticate(api, connection, algorithm, username, password, saslScramSha.defaultCrypto, done);
    }
  }
}
