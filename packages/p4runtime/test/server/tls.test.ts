import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { SecureClientSessionOptions } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { TlsOptions } from '@int/p4runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requires } from '../../../../.ci/test/requires.js';
import { Controller, codeOf, createBench } from './controller.js';

interface Pair {
  readonly key: string;
  readonly cert: string;
}

let folder: string | undefined;
let made: { readonly ca: Pair; readonly server: Pair; readonly client: Pair; readonly stranger: Pair } | undefined;

/** Certificates for this run: an issuer, one each for server and client, and one that nobody knows. */
function certificates(): NonNullable<typeof made> {
  const openssl = requires('openssl', 'npm run setup:system');
  if (made !== undefined) return made;
  const at = (name: string): string => join(folder!, name);
  const run = (...args: string[]): void => {
    execFileSync(openssl, args, { stdio: 'pipe' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const self = (name: string): void =>
    run(
      'req',
      '-x509',
      ...newKey,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      at(`${name}.key`),
      '-out',
      at(`${name}.crt`),
    );
  self('ca');
  self('stranger');
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  for (const name of ['server', 'client']) {
    run('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`));
    const issuer = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')];
    run('x509', '-req', '-in', at(`${name}.csr`), ...issuer, '-days', '2', '-out', at(`${name}.crt`));
  }
  const pair = (name: string): Pair => ({
    key: readFileSync(at(`${name}.key`), 'utf8'),
    cert: readFileSync(at(`${name}.crt`), 'utf8'),
  });
  made = { ca: pair('ca'), server: pair('server'), client: pair('client'), stranger: pair('stranger') };
  return made;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-p4runtime-tls-'));
});
afterAll(() => rmSync(folder!, { recursive: true, force: true }));

/** The code of a call by a client with certificates of its own; 0: answered. */
async function ask(tls: TlsOptions, client: SecureClientSessionOptions, scheme = 'https'): Promise<number> {
  const { server } = createBench();
  const { port } = await server.listen({ port: 0, tls });
  try {
    const baseUrl = `${scheme}://localhost:${port}`;
    const controller = new Controller(createGrpcTransport({ baseUrl, nodeOptions: client }));
    return await codeOf(controller.client.capabilities({}));
  } finally {
    await server.close();
  }
}

describe('TLS', () => {
  it('lets in clients that know the issuer of the server, and those see the server by its name', async () => {
    const { ca, server, stranger } = certificates();
    expect(await ask(server, { ca: ca.cert })).toBe(0);
    expect(await ask(server, { ca: stranger.cert })).not.toBe(0);
    expect(await ask(stranger, { ca: ca.cert })).not.toBe(0);
  });

  it('answers nobody without encryption', async () => {
    const { server } = certificates();
    expect(await ask(server, {}, 'http')).not.toBe(0);
  });

  it('with an issuer of clients lets in their certificates alone', async () => {
    const { ca, server, client, stranger } = certificates();
    const mutual = { ...server, clientCa: ca.cert };
    expect(await ask(mutual, { ca: ca.cert, ...client })).toBe(0);
    expect(await ask(mutual, { ca: ca.cert })).not.toBe(0);
    expect(await ask(mutual, { ca: ca.cert, ...stranger })).not.toBe(0);
  });
});
