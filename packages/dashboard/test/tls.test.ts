import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DashboardError } from '@int/dashboard';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { requires } from '../../../.ci/test/requires.js';
import { openDashboard } from './pages.js';

const TOKEN = 'a-token-of-a-test';

test('serves page, login and stream by TLS, and refuses a certificate that is none', async () => {
  const openssl = requires('openssl', 'npm run setup:system');
  const folder = mkdtempSync(join(tmpdir(), 'int-dashboard-tls-'));
  try {
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync(openssl, [...made, '-keyout', keyFile, '-out', certFile, ...subject], { stdio: 'ignore' });
    const tls = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    const dashboard = await openDashboard({ token: TOKEN, tls });
    try {
      expect(dashboard.url).toMatch(/^https:/);
      const ask = (path: string, headers: Record<string, string>): Promise<{ status: number; secure: unknown }> =>
        new Promise((resolve, reject) => {
          request(new URL(path, dashboard.url), { ca: tls.cert, headers }, (response) => {
            response.resume();
            const secure = response.headers['strict-transport-security'];
            response.on('end', () => resolve({ status: response.statusCode!, secure }));
          })
            .on('error', reject)
            .end();
        });
      const authorization = `Bearer ${TOKEN}`;
      expect((await ask('api/v1/status', {})).status).toBe(401);
      expect(await ask('api/v1/status', { authorization })).toEqual({ status: 200, secure: expect.any(String) });
      const url = dashboard.url.replace(/^https/, 'wss');
      const socket = new WebSocket(new URL('api/v1/live', url), { ca: tls.cert, headers: { authorization } });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      socket.terminate();
    } finally {
      await dashboard.close();
    }
    const wrong = openDashboard({ tls: { cert: tls.key, key: tls.cert } });
    await expect(wrong).rejects.toSatisfy((error) => DashboardError.is(error) && error.code === 'ERR_DASHBOARD_TLS');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
