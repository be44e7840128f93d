import { pbkdf2Sync, randomBytes } from 'node:crypto';
import type { KafkaLogin } from '@int/sink-kafka';
import { alterUserScramCredentialsV0, type Connection } from '@platformatic/kafka';
import { has } from '../../../src/kafka/answers.js';
import type { KafkaLink } from '../../../src/kafka/link.js';
import { until } from '../log.js';

/** As the protocol numbers SCRAM-SHA-256. */
const MECHANISM = 1;
const ITERATIONS = 4096;
const KEY_BYTES = 32;
/** A login counts for so long: then a client has to log in again on the same connection. */
const LOGIN_MS = 2000;
const ASK_MS = 10_000;

/** The login of a user. */
export function loginOf(username: string): KafkaLogin & { readonly password: string } {
  return { mechanism: 'SCRAM-SHA-256', username, password: `of ${username}` };
}

/** Settings of brokers with listeners that want a login. */
export function loginProperties(listeners: readonly string[]): Record<string, string> {
  const protocols = [
    'PLAINTEXT:PLAINTEXT',
    'CONTROLLER:PLAINTEXT',
    ...listeners.map((name) => `${name}:SASL_PLAINTEXT`),
  ];
  const properties = { 'listener.security.protocol.map': protocols.join() };
  for (const name of listeners) {
    const listener = `listener.name.${name.toLowerCase()}`;
    Object.assign(properties, {
      [`${listener}.sasl.enabled.mechanisms`]: 'SCRAM-SHA-256',
      [`${listener}.scram-sha-256.sasl.jaas.config`]:
        'org.apache.kafka.common.security.scram.ScramLoginModule required;',
      [`${listener}.scram-sha-256.connections.max.reauth.ms`]: String(LOGIN_MS),
    });
  }
  return properties;
}

/** Who may log in, as the brokers know it. */
export class Logins {
  readonly #link: KafkaLink;
  readonly #address: string;

  /** @param address `host:port` of a broker that wants no login itself */
  constructor(link: KafkaLink, address: string) {
    this.#link = link;
    this.#address = address;
  }

  /** They may log in from now on. */
  async grant(...users: readonly string[]): Promise<void> {
    const upsertions = users.map((name) => {
      const salt = randomBytes(16);
      const saltedPassword = pbkdf2Sync(loginOf(name).password, salt, ITERATIONS, KEY_BYTES, 'sha256');
      return { name, mechanism: MECHANISM, iterations: ITERATIONS, salt, saltedPassword };
    });
    await this.#ask((connection) => alterUserScramCredentialsV0.api.async(connection, [], upsertions));
  }

  /** It may not log in: what it has open ends when it has to log in again. */
  async revoke(name: string): Promise<void> {
    const deletions = [{ name, mechanism: MECHANISM }];
    await this.#ask((connection) => alterUserScramCredentialsV0.api.async(connection, deletions, []));
  }

  /** Asks until a broker has done it: it may be away for a while. */
  async #ask(question: (connection: Connection) => Promise<unknown>): Promise<void> {
    const connections = this.#link.connections();
    let failure: unknown;
    const isDone = async (): Promise<boolean> => {
      try {
        await connections.ask(this.#address, 'changing logins', ASK_MS, question);
        return true;
      } catch (error) {
        failure = error;
        // The answer before got lost.
        return has(error, ['RESOURCE_NOT_FOUND']);
      }
    };
    await until(isDone, 200, 60_000, () => failure);
    connections.close();
  }
}
