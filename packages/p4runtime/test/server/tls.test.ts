import type { SecureClientSessionOptions } from 'node:http2';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { TlsOptions } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { certificates } from './certificates.js';
import { Controller, codeOf, createBench } from './controller.js';

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
