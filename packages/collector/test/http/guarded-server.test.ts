import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { GuardedServer, type GuardedServerOptions, HostList, reply } from '@int/collector/http';
import { afterEach, describe, expect, test } from 'vitest';
import { inTime, until } from '../../../../.ci/test/until.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that answers with the method, and takes note of what reaches its handler. */
async function serve(options: GuardedServerOptions = {}, host = '127.0.0.1') {
  const handled: string[] = [];
  const server = new GuardedServer(options, (incoming, response) => {
    handled.push(`${incoming.method} ${incoming.url}`);
    if (incoming.url === '/broken') throw new Error('no such page');
    if (incoming.url === '/slow') return;
    reply(response, 200, 'text/plain', `${incoming.method}\n`);
  });
  await server.listen({ host, port: 0 });
  closers.push(() => server.close(0));
  return { server, handled, port: server.address!.port };
}

/** The status of a request with the given headers. */
async function ask(
  port: number,
  headers: Readonly<Record<string, string>> = {},
  { method = 'GET', path = '/', body = '' } = {},
): Promise<number> {
  const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
  outgoing.end(body);
  const [response] = (await inTime('an answer', once(outgoing, 'response'))) as [
    { statusCode: number; resume(): void },
  ];
  response.resume();
  return response.statusCode;
}

/** A connection, and all that came on it. */
function connection(port: number): {
  readonly socket: Socket;
  readonly text: () => string;
  readonly closed: Promise<unknown>;
} {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  closers.push(() => socket.destroy());
  return { socket, text: () => text, closed: inTime('the end of a connection', once(socket, 'close')) };
}

const count = (text: string, what: string): number => text.split(what).length - 1;

describe('HostList', () => {
  const list = new HostList('10.0.0.5', ['Metrics.example.com', '2001:DB8::1']);

  test('allows its own names, those given, and the address that was connected to', () => {
    const own = ['localhost', 'LOCALHOST:9464', 'localhost.', '127.0.0.1:80', '[::1]:80', '10.0.0.5', hostname()];
    for (const name of [...own, 'metrics.example.com:9464', '[2001:db8:0::1]:1']) {
      expect(list.allows(name, '192.168.1.9'), name).toBe(true);
    }
    expect(list.allows('192.168.1.9:9464', '192.168.1.9')).toBe(true);
    expect(list.allows('192.168.1.9:9464', '::ffff:192.168.1.9')).toBe(true);
    expect(list.allows('[fe80::1]', 'fe80::1')).toBe(true);
  });

  test('allows no name of a stranger, however it is written', () => {
    const names = ['evil.example', 'localhost.evil.example', 'evil.example:80', '192.168.1.8', '0.0.0.0', '[::]', ''];
    const tricks = [
      'localhost@evil.example',
      'evil.example#localhost',
      'localhost/x',
      'localhost:80:80',
      'a b',
      '[::1',
      '::1',
      '%',
    ];
    for (const name of [...names, ...tricks, undefined]) expect(list.allows(name, '192.168.1.9'), name).toBe(false);
  });

  test('has no name of its own that stands for all addresses', () => {
    expect(new HostList('0.0.0.0').allows('0.0.0.0:80', '10.0.0.1')).toBe(false);
    expect(new HostList('::').allows('[::]:80', '10.0.0.1')).toBe(false);
    expect(() => new HostList('localhost', ['http://x'])).toThrow(RangeError);
  });
});

describe('GuardedServer', () => {
  test('answers to no name of a stranger: DNS rebinding', async () => {
    const { port, handled, server } = await serve({ allowHosts: ['metrics.example'] });
    expect(await ask(port)).toBe(200);
    expect(await ask(port, { host: 'metrics.example' })).toBe(200);
    for (const host of ['evil.example', `evil.example:${port}`, '203.0.113.9'])
      expect(await ask(port, { host })).toBe(403);
    expect(await ask(port, {}, { path: `http://evil.example:${port}/` })).toBe(403);
    const twice = connection(port);
    twice.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n');
    await twice.closed;
    expect(twice.text()).toMatch(/^HTTP\/1\.1 40[03] /);
    const none = connection(port);
    none.socket.write('GET / HTTP/1.0\r\n\r\n');
    await none.closed;
    expect(none.text()).toMatch(/^HTTP\/1\.1 403 /);
    expect(handled).toHaveLength(2);
    expect(server.totals()).toMatchObject({ requests: 2, refused: { hosts: 6 } });
  });

  test('takes changes with the token only', async () => {
    const { port, handled, server } = await serve({ token: 's3cret' });
    const put = { method: 'PUT', body: '{}' };
    for (const authorization of ['', 'Bearer', 'Bearer s3cre', 'Bearer s3cret2', 'bearer s3cret', 's3cret']) {
      expect(await ask(port, authorization === '' ? {} : { authorization }, put), authorization).toBe(401);
    }
    expect(handled).toEqual([]);
    expect(await ask(port, { authorization: 'Bearer s3cret' }, put)).toBe(200);
    expect(await ask(port, { authorization: 'Bearer s3cret', host: 'evil.example' }, put)).toBe(403);
    const without = await serve();
    for (const method of ['PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
      expect(await ask(without.port, { authorization: 'Bearer ' }, { method })).toBe(405);
    }
    expect([handled, without.handled]).toEqual([['PUT /'], []]);
    expect([server.totals().refused.tokens, without.server.totals().refused.methods]).toEqual([6, 5]);
    expect(() => new GuardedServer({ token: '' }, () => {})).toThrow(RangeError);
  });

  test('reads no body where none belongs, and no headers without end', async () => {
    const { port, handled, server } = await serve();
    expect(await ask(port, { 'content-length': '5' }, { body: 'hello' })).toBe(413);
    expect(await ask(port, { 'x-long': 'x'.repeat(10_000) })).toBe(431);
    expect(handled).toEqual([]);
    expect(server.totals().refused.others).toBe(1);
  });

  test('answers so many pipelined requests on a connection, then closes it', async () => {
    const { port, handled } = await serve({ limits: { requestsPerConnection: 5 } });
    const { socket, closed, text } = connection(port);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200));
    await closed;
    expect(count(text(), 'HTTP/1.1 200')).toBe(5);
    expect(handled).toHaveLength(5);
  });

  test('has so many connections, and so many of one address', async () => {
    for (const limits of [{ connections: 3 }, { connectionsPerAddress: 3 }]) {
      const { port, server } = await serve({ limits });
      const open = Array.from({ length: 10 }, () => connection(port));
      await inTime('connections', Promise.all(open.map(({ socket }) => once(socket, 'connect'))));
      await until('the end of all but three', () => open.filter(({ socket }) => !socket.destroyed).length === 3);
      expect(server.totals().refused.connections).toBe(7);
      for (const { socket } of open) socket.destroy();
      // Those that have closed make room.
      await until('a connection after the others have closed', async () => (await ask(port).catch(() => 0)) === 200);
    }
  });

  test('ends a connection whose request does not arrive, or whose answer is not made in time', async () => {
    const { port, handled, server } = await serve({ limits: { requestMs: 50, answerMs: 50 } });
    const half = connection(port);
    half.socket.write('GET / HTTP/1.1\r\nHost: local');
    await half.closed;
    const slow = connection(port);
    slow.socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3));
    await slow.closed;
    expect(handled).toEqual(['GET /slow', 'GET /slow', 'GET /slow']);
    expect(server.totals().refused.others).toBe(1);
  });

  test('answers 500 where the handler throws, and goes on', async () => {
    const { port } = await serve();
    expect(await ask(port, {}, { path: '/broken' })).toBe(500);
    expect(await ask(port)).toBe(200);
  });

  test('closes in time although answers are under way and connections idle', async () => {
    const { port, server, handled } = await serve();
    const busy = connection(port);
    busy.socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const idle = connection(port);
    idle.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until('both requests', () => handled.length === 2);
    await server.close(20);
    await Promise.all([busy.closed, idle.closed]);
    expect(server.address).toBeNull();
  });

  test('does not ask for names on a Unix socket, but for the token', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'int-http-'));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'socket');
    const server = new GuardedServer({ token: 'x' }, (_, response) => reply(response, 200, 'text/plain', ''));
    await server.listen({ path });
    closers.push(() => server.close(0));
    for (const [method, status] of [
      ['GET', 200],
      ['PUT', 401],
    ] as const) {
      const outgoing = request({ socketPath: path, method, path: '/', headers: { host: 'anything' } });
      outgoing.end();
      const [response] = (await inTime('an answer', once(outgoing, 'response'))) as [
        { statusCode: number; resume(): void },
      ];
      response.resume();
      expect(response.statusCode).toBe(status);
    }
  });
});
