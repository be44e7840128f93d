import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { limit, requires } from '../../../../.ci/test/requires.js';
import { COMMON, LATENCY, REPORT_PORT, templateOf } from '../../../src/afxdp/template.js';

const NATIVE = fileURLToPath(new URL('../../../native/', import.meta.url));
const DESTINATION = { mac: '02:00:00:00:02:02', address: '10.9.0.2', sender: '10.9.0.1' };
/** Fewer than a socket has room for, so that none is lost however busy the machine is. */
const FRAMES = 2000;

let folder = '';
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

/** Sends frames to a receiver, both in a network namespace that ends with them. @returns what the receiver answers */
function sendTo(receiver: readonly string[]): Record<string, number> {
  for (const tool of ['unshare', 'ip', 'ethtool', 'bash', 'make', process.env.CC ?? 'cc']) {
    requires(tool, 'npm run setup:system');
  }
  if (process.getuid?.() !== 0) limit('network namespaces and eBPF programs need root');
  if (spawnSync('unshare', ['--net', 'true'], { timeout: 30_000 }).status !== 0) limit('no network namespaces here');
  if (folder === '') folder = mkdtempSync(join(tmpdir(), 'int-receivers-'));
  execFileSync('make', ['-s', '-C', NATIVE, `BUILD=${folder}`, 'receivers'], { timeout: 300_000 });
  const { frame, ...places } = templateOf(COMMON, DESTINATION);
  writeFileSync(join(folder, 'frame'), frame);
  const options = { count: FRAMES, pps: 100_000, ...places, period: 10, low: LATENCY.low, high: LATENCY.high };
  const script = `
    set -e
    ip link add send0 type veth peer name recv0 address ${DESTINATION.mac}
    ip address add ${DESTINATION.address}/24 dev recv0
    ethtool -K recv0 gro on
    ip link set send0 up
    ip link set recv0 up
    cd ${folder}
    coproc RECEIVER { ./${receiver.join(' ')}; }
    read -r READY <&\${RECEIVER[0]}
    ./live_send send0 frame ${Object.entries(options)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ')} > sent
    sleep 0.2
    echo >&\${RECEIVER[1]}
    read -r ANSWER <&\${RECEIVER[0]}
    echo "$ANSWER"`;
  const { status, stdout, stderr } = spawnSync('unshare', ['--net', 'bash', '-c', script], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (/Unknown device type|live_send: BPF_PROG_TEST_RUN: Invalid argument/.test(stderr)) limit(stderr.trim());
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Record<string, number>;
}

const EVERYTHING = { frames: FRAMES, reports: FRAMES, others: 0, messages: FRAMES, dropped: 0 };

describe('receivers in C, sent live frames by an eBPF program', () => {
  it('gets every report by AF_XDP in driver mode', () => {
    expect(sendTo(['xsk_receive', 'recv0', 'driver', 'wait', 'message'])).toMatchObject(EVERYTHING);
  });

  it('gets every report by AF_XDP in generic mode, asleep a millisecond at a time', () => {
    expect(sendTo(['xsk_receive', 'recv0', 'generic', 'sleep', 'message'])).toMatchObject(EVERYTHING);
  });

  it('gets every report by recvmmsg', () => {
    expect(sendTo(['mmsg_receive', String(REPORT_PORT), 'message'])).toMatchObject(EVERYTHING);
  });
});
