/** Certificates for tests, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requires } from '../../../../.ci/test/requires.js';

interface Pair {
  readonly key: string;
  readonly cert: string;
}

interface Certificates {
  /** The issuer of all but `stranger`. */
  readonly ca: Pair;
  /** For localhost and 127.0.0.1. */
  readonly server: Pair;
  readonly client: Pair;
  /** Of its own making. */
  readonly stranger: Pair;
  /** For another name. */
  readonly elsewhere: Pair;
  /** Valid until yesterday. */
  readonly expired: Pair;
}

let made: Certificates | undefined;

/** Certificates for this run. */
export function certificates(): Certificates {
  const openssl = requires('openssl', 'npm run setup:system');
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'int-p4runtime-tls-'));
  try {
    made = make(openssl, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return made;
}

function make(openssl: string, folder: string): Certificates {
  const at = (name: string): string => join(folder, name);
  const run = (...args: string[]): void => {
    execFileSync(openssl, args, { stdio: 'pipe' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = (name: string, ending: string): string[] => [
    '-keyout',
    at(`${name}.key`),
    '-out',
    at(`${name}.${ending}`),
  ];
  for (const name of ['ca', 'stranger']) {
    run('req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=${name}`, ...files(name, 'crt'));
  }
  const here = 'DNS:localhost,IP:127.0.0.1';
  for (const [name, names, days] of [
    ['server', here, '2'],
    ['client', here, '2'],
    ['elsewhere', 'DNS:switch.example', '2'],
    ['expired', here, '-1'],
  ] as const) {
    writeFileSync(at('names'), `subjectAltName=${names}\n`);
    run('req', ...newKey, '-subj', `/CN=${name}`, ...files(name, 'csr'));
    const issuer = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')];
    run('x509', '-req', '-in', at(`${name}.csr`), ...issuer, '-days', days, '-out', at(`${name}.crt`));
  }
  const pair = (name: string): Pair => ({
    key: readFileSync(at(`${name}.key`), 'utf8'),
    cert: readFileSync(at(`${name}.crt`), 'utf8'),
  });
  return {
    ca: pair('ca'),
    server: pair('server'),
    client: pair('client'),
    stranger: pair('stranger'),
    elsewhere: pair('elsewhere'),
    expired: pair('expired'),
  };
}
