import { describe, expect, it } from 'vitest';
import { limit, requires } from '../../../.ci/test/requires.js';
import { pairFor, startTraffic } from '../pair.js';
import { startAt } from './start.js';

/** A command in front of `node` that takes capabilities away, such as `net_raw`. */
function without(...capabilities: readonly string[]): string[] {
  if (process.getuid?.() !== 0) limit('only root has rights to take away');
  const minus = capabilities.map((name) => `-${name}`).join(',');
  return [requires('setpriv', 'npm run setup:system'), '--bounding-set', minus, '--inh-caps', minus];
}

describe('a process without the right', () => {
  it.each([
    ['to open raw sockets', ['net_raw'], 'CAP_NET_RAW'],
    ['to load BPF programs', ['bpf', 'sys_admin'], 'CAP_BPF'],
    ['to change network interfaces', ['net_admin', 'sys_admin'], 'CAP_NET_ADMIN'],
  ] as const)('%s is told which one it needs', async (_what, capabilities, name) => {
    const pair = await pairFor();
    const program = await startAt(pair, { through: without(...capabilities) });
    const failure = await program.failure('open', {});
    expect(failure).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_PERMISSION' });
    expect(`${failure.message} ${failure.hint}`).toContain(name);
    expect(pair.attached(pair.right)).toBe(null);
    await program.stop();

    const support = await startTraffic({ at: pair.right, through: without(...capabilities) });
    expect(await support.call('support', pair.right.interface)).toMatchObject({ code: 'ERR_XDP_PERMISSION' });
    await support.stop();
  });

  it('to administer everything needs none of it', async () => {
    const pair = await pairFor();
    const program = await startAt(pair, { through: without('sys_admin', 'sys_resource') });
    expect(await program.call('open', {})).toBe('driver');
    await program.stop();
  });

  it('to lock memory is told so where the UMEM exceeds the limit', async () => {
    const pair = await pairFor();
    const limits = [requires('prlimit', 'npm run setup:system'), '--memlock=1048576:1048576'];
    const program = await startAt(pair, { through: [...limits, ...without('ipc_lock')] });
    const failure = await program.failure('open', { frames: 4096 });
    expect(failure).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_MEMLOCK' });
    expect(pair.attached(pair.right)).toBe(null);
    expect(await program.call('open', { frames: 64 })).toBe('driver');
    await program.stop();
  });
});
