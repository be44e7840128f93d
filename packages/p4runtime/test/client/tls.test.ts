/** The client over TLS: to this package's server, and to some that it must not trust. */
import { type ClientTls, P4RuntimeClient, P4RuntimeError, type TlsOptions } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { certificates } from '../server/certificates.js';
import { createBench } from '../server/controller.js';
import { station } from '../server/everything.js';

/** What becomes of a client with these certificates: true if it is primary and writes, or its error. */
async function attempt(tls: TlsOptions | undefined, client: ClientTls | undefined): Promise<true | P4RuntimeError> {
  const { server, controller } = createBench();
  const { port } = await server.listen({ port: 0, ...(tls && { tls }) });
  const connected = new P4RuntimeClient({ target: `localhost:${port}`, ...(client && { tls: client }) });
  try {
    expect(await connected.connect()).toBe(true);
    await connected.insert(connected.entry('stations', { dst: 1 }, 'drop'));
    expect(await controller.read(station(1, 0, { action: undefined }))).toHaveLength(0);
    return true;
  } catch (error) {
    if (!P4RuntimeError.is(error)) throw error;
    return error;
  } finally {
    await connected.close();
    await server.close();
  }
}

describe('a client over TLS', () => {
  it('knows a switch by its issuer, and writes', async () => {
    const { ca, server } = certificates();
    expect(await attempt(server, { ca: ca.cert })).toBe(true);
  });

  it.each([
    ['a switch of another issuer', 'stranger', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['a switch of another name', 'elsewhere', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['a switch whose certificate has expired', 'expired', 'CERT_HAS_EXPIRED'],
  ] as const)('refuses %s, and says why', async (_, which, reason) => {
    const { ca, [which]: server } = certificates();
    const error = await attempt(server, { ca: ca.cert });
    expect(error).toMatchObject({ code: 'ERR_P4RUNTIME_CERTIFICATE' });
    expect((error as P4RuntimeError).message).toContain(reason);
  });

  it('takes the name that it is told', async () => {
    const { ca, elsewhere } = certificates();
    expect(await attempt(elsewhere, { ca: ca.cert, serverName: 'switch.example' })).toBe(true);
  });

  it('shows its own certificate to a switch that asks for it', async () => {
    const { ca, server, client, stranger, expired } = certificates();
    const mutual = { ...server, clientCa: ca.cert };
    expect(await attempt(mutual, { ca: ca.cert, ...client })).toBe(true);
    for (const own of [{}, stranger, expired]) {
      const error = await attempt(mutual, { ca: ca.cert, ...own });
      // The refusal comes after the handshake of TLS 1.3: it is seen, or only the end of the connection.
      const { code, message } = error as P4RuntimeError;
      expect(['ERR_P4RUNTIME_CERTIFICATE', 'ERR_P4RUNTIME_CONNECTION']).toContain(code);
      expect(message).toContain('certificate');
    }
  });

  it('finds no switch that speaks TLS where there is none, and none without TLS where there is one', async () => {
    const { ca, server } = certificates();
    expect(await attempt(undefined, { ca: ca.cert })).toMatchObject({ code: 'ERR_P4RUNTIME_CONNECTION' });
    expect(await attempt(server, undefined)).toMatchObject({ code: 'ERR_P4RUNTIME_CONNECTION' });
  });
});
