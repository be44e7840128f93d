import { connect, type Socket } from 'node:net';
import type { Dashboard, Status } from '@int/dashboard';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';

const TOKEN = 'correct horse battery'.replaceAll(' ', '-');
const ROUNDS = process.env.INT_LONG === '1' ? 10 : 1;

let open: Dashboard;
let guarded: Dashboard;

beforeAll(async () => {
  const limits = { requestMs: 1500 };
  open = await openDashboard({ limits });
  guarded = await openDashboard({ token: TOKEN, allowHosts: ['dash.example'], readOnly: true, limits });
});
afterAll(async () => {
  await Promise.all([open.close(), guarded.close()]);
});

/** Sends bytes, and returns what comes back until the end. */
function raw(dashboard: Dashboard, bytes: string | Uint8Array, holdMs = 0): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(dashboard.address.port, '127.0.0.1');
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(bytes);
    if (holdMs === 0) socket.end();
    else setTimeout(() => socket.destroy(), holdMs);
  });
}

const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', body].join('\r\n');

async function isWell(dashboard: Dashboard, token?: string): Promise<Status> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // The test itself may have used up the requests of its address.
  return until(
    'an answer',
    async () => {
      const answer = await fetch(new URL('api/v1/status', dashboard.url), { headers });
      return answer.status === 200 ? ((await answer.json()) as Status) : null;
    },
    { everyMs: 100 },
  );
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1100));

describe('a dashboard', () => {
  test('refuses by name hosts, origins, methods and bodies that are not its own', async () => {
    const cases: readonly (readonly [string, number, string])[] = [
      ['GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', 403, 'ERR_HOST'],
      ['GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\nConnection: close\r\n\r\n', 403, 'ERR_HOST'],
      [request('GET /api/v1/status', ['Origin: http://evil.example']), 403, 'ERR_ORIGIN'],
      [request('GET /api/v1/status', ['Origin: null']), 403, 'ERR_ORIGIN'],
      [request('GET /api/v1/status', ['Sec-Fetch-Site: cross-site']), 403, 'ERR_ORIGIN'],
      [request('POST /api/v1/query', ['Sec-Fetch-Site: same-site', 'Content-Length: 0']), 403, 'ERR_ORIGIN'],
      [request('TRACE /'), 405, 'ERR_METHOD'],
      [request('DELETE /api/v1/status', ['Content-Length: 0']), 405, 'ERR_METHOD'],
      [request('GET /api/v1/status', ['Content-Length: 2'], '{}'), 413, 'ERR_BODY'],
      [request('PUT /api/v1/rules', ['Content-Type: text/plain', 'Content-Length: 2'], '{}'), 415, 'ERR_BODY_TYPE'],
      [request('PUT /api/v1/rules', ['Content-Type: application/json', 'Content-Length: 1'], '{'), 400, 'ERR_JSON'],
      [request('PUT /api/v1/rules', ['Content-Length: 9999999']), 413, 'ERR_BODY_TOO_LARGE'],
      [request('GET /api/v1/nothing'), 404, 'ERR_NOT_FOUND'],
      [request('GET /../../etc/passwd'), 404, 'ERR_NOT_FOUND'],
      [request('GET /%2e%2e/%2e%2e/etc/passwd'), 404, 'ERR_NOT_FOUND'],
      [request('GET /api/v1/series?metric=x'), 400, 'ERR_PARAMETER'],
      [request('GET /api/v1/series?metric=reports&entity=<script>'), 400, 'ERR_PARAMETER'],
      [request('GET /api/v1/flows?filter=latencey%3E1'), 400, 'ERR_FILTER'],
      [request('GET /api/v1/events?limit=1e9'), 400, 'ERR_PARAMETER'],
      [request('GET /api/v1/reports/..%2f..%2fetc'), 404, 'ERR_NOT_FOUND'],
      [request('GET /api/v1/status?replay=none'), 404, 'ERR_NOT_FOUND'],
    ];
    for (const [bytes, status, code] of cases) {
      const answer = await raw(open, bytes);
      expect([answer.slice(9, 12), answer.includes(`"${code}"`)], bytes).toEqual([String(status), true]);
    }
    expect(await isWell(open)).toMatchObject({ dashboard: { refused: { ERR_HOST: 2, ERR_ORIGIN: 4 } } });
  });

  test('lets nobody in without its token, also by WebSocket, and takes no change when it is read-only', async () => {
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(new URL(path, guarded.url), { redirect: 'manual', ...init });
    const authorization = `Bearer ${TOKEN}`;
    expect((await ask('api/v1/status')).status).toBe(401);
    expect((await ask('api/v1/status', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect((await ask('api/v1/status', { headers: { authorization } })).status).toBe(200);
    const page = await ask('');
    expect([page.status, page.headers.get('location')]).toEqual([303, 'login']);
    expect((await ask('login')).headers.get('content-security-policy')).toContain("default-src 'self'");
    const logIn = (token: string): Promise<Response> =>
      ask('login', { method: 'POST', body: new URLSearchParams({ token }) });
    expect((await logIn('wrong')).status).toBe(401);
    const right = await logIn(TOKEN);
    const cookie = right.headers.get('set-cookie')!;
    expect([right.status, cookie]).toEqual([303, expect.stringMatching(/HttpOnly; SameSite=Strict/)]);
    expect(cookie).not.toContain(TOKEN);
    const session = { cookie: cookie.split(';')[0]! };
    expect((await ask('', { headers: session })).status).toBe(200);
    const change = await ask('api/v1/rules', {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([change.status, await change.json()]).toMatchObject([403, { error: { code: 'ERR_READ_ONLY' } }]);
    const socket = (headers: Record<string, string>, origin?: string): Promise<number> =>
      new Promise((resolve) => {
        const url = new URL('api/v1/live', guarded.url);
        url.protocol = 'ws:';
        const opened = new WebSocket(url, { headers, ...(origin !== undefined && { origin }) });
        opened.once('open', () => {
          opened.terminate();
          resolve(101);
        });
        opened.once('unexpected-response', (_, response) => resolve(response.statusCode!));
        opened.once('error', () => {});
      });
    expect(await socket({})).toBe(401);
    expect(await socket(session, 'http://evil.example')).toBe(403);
    expect(await socket(session, new URL(guarded.url).origin)).toBe(101);
    expect(await socket({ authorization })).toBe(101);
    // As a proxy in front asks, with the name that it goes by.
    expect(await socket({ ...session, host: 'dash.example' }, 'https://dash.example')).toBe(101);
    expect((await ask('logout', { method: 'POST', headers: session })).status).toBe(303);
    expect((await ask('api/v1/status', { headers: session })).status).toBe(401);
    // Guessing is slow.
    const guesses = await Promise.all(Array.from({ length: 20 }, () => logIn('guess')));
    expect(guesses.some(({ status }) => status === 429)).toBe(true);
    expect(await isWell(guarded, TOKEN)).toMatchObject({ readOnly: true });
  });

  test('outlives malformed requests and frames, slow ones and too many', async () => {
    let seed = 42;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed % below;
    };
    const upgrade =
      'GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';
    const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)));
    const good = request('GET /api/v1/series?metric=reports&entity=all&from=0&to=1');
    const hostile = (): Uint8Array => {
      const what = random(6);
      if (what === 0) return noise(1 + random(300));
      if (what === 1) {
        const bytes = Buffer.from(good);
        for (let change = 0; change < 4; change++) bytes[random(bytes.length)] = random(256);
        return bytes;
      }
      if (what === 2) return Buffer.concat([Buffer.from(upgrade), noise(1 + random(200))]);
      // A frame that says that it is very long.
      if (what === 3)
        return Buffer.concat([Buffer.from(upgrade), Buffer.from([0x81, 0xff, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff])]);
      if (what === 4) return Buffer.from(request(`GET /${'a'.repeat(random(20_000))}`));
      return Buffer.from(
        request('POST /api/v1/query', ['Content-Type: application/json', `Content-Length: ${random(9)}`], '{"a":'),
      );
    };
    // Slow ones, which send a header and then wait.
    const slow = Array.from({ length: 20 }, () => raw(open, 'GET / HTTP/1.1\r\nHost: localhost\r\nX: ', 60_000));
    for (let round = 0; round < 10 * ROUNDS; round++) {
      await Promise.all(Array.from({ length: 100 }, () => raw(open, hostile(), 300)));
    }
    await pause();
    const answers = await Promise.all(slow);
    expect(answers.every((text) => text === '' || text.startsWith('HTTP/1.1 408'))).toBe(true);
    const { dashboard, totals } = await isWell(open);
    expect([dashboard.viewers, totals.reports]).toEqual([0, 0]);
    expect(Object.keys(dashboard.refused).length).toBeGreaterThan(2);
    expect(open.degraded().map(({ name }) => name)).not.toContain('failed');
  });
});
