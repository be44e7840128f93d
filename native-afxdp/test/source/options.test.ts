import { XdpSource, type XdpSourceOptions } from '@int/afxdp/source';
import { SourceError } from '@int/collector';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('XdpSource', () => {
  it('is named by its interface and queues, and tells the decode options for the collector', () => {
    const name = (queues?: XdpSourceOptions['queues']): string =>
      new XdpSource({ interface: 'eth0', ...(queues !== undefined && { queues }) }).name;
    expect([name(), name('all'), name([2]), name([0, 1, 2, 3]), name([1, 4])]).toEqual([
      'afxdp://eth0:all',
      'afxdp://eth0:all',
      'afxdp://eth0:2',
      'afxdp://eth0:0-3',
      'afxdp://eth0:1,4',
    ]);
    const decode = { intPorts: [7], reportPorts: [9] };
    expect(new XdpSource({ interface: 'eth0' }).decode).toEqual({ reportPorts: [32766] });
    expect(new XdpSource({ interface: 'eth0', ports: [5, 6], decode: { intPorts: [7] } }).decode).toEqual({
      intPorts: [7],
      reportPorts: [5, 6],
    });
    expect(new XdpSource({ interface: 'eth0', ports: 'all' }).decode).toEqual({});
    expect(new XdpSource({ interface: 'eth0', ports: 'all', decode }).decode).toEqual(decode);
  });

  it.each([
    [{ interface: '' }, TypeError],
    [{ queues: [] }, RangeError],
    [{ queues: [1, 1] }, RangeError],
    [{ queues: [-1] }, RangeError],
    [{ queues: [0, 1], threads: false }, RangeError],
    [{ ports: [65_536] }, RangeError],
    [{ frames: 1000 }, RangeError],
    [{ frames: 512 }, RangeError],
    [{ frameSize: 1024 as 2048 }, RangeError],
    [{ batchFrames: 8 }, RangeError],
    [{ batches: 1 }, RangeError],
    [{ frames: 4096, batchFrames: 512, batches: 8 }, RangeError],
    [{ from: ['10.9.0.0/33'] }, RangeError],
  ] as const)('refuses %j', (options, error) => {
    expect(() => new XdpSource({ interface: 'eth0', ...options })).toThrow(error);
  });

  it('tells the collector who may send', () => {
    expect(new XdpSource({ interface: 'eth0' }).from).toBeNull();
    const { from } = new XdpSource({ interface: 'eth0', from: ['10.9.0.0/16', '2001:db8::1'] });
    expect(from!.map(({ text, length }) => [text, length])).toEqual([
      ['10.9.0.0/16', 16],
      ['2001:db8::1', 128],
    ]);
  });

  it('says where it was to be opened, and why it cannot be; stopping it is no error', async () => {
    vi.stubEnv('INT_AFXDP_ADDON', '/nowhere/afxdp.node');
    // The addon is loaded once for a process: these modules have not seen it yet.
    vi.resetModules();
    const { XdpSource } = await import('@int/afxdp/source');
    const source = new XdpSource({ interface: 'eth0' });
    const failure: unknown = await source.start(() => undefined).catch((error: unknown) => error);
    expect(SourceError.is(failure)).toBe(true);
    const code = process.platform === 'linux' ? 'ERR_XDP_NOT_BUILT' : 'ERR_XDP_PLATFORM';
    expect(failure).toMatchObject({ code: 'ERR_SOURCE_OPEN', source: 'afxdp://eth0:all', cause: { code } });
    await source.stop();
    await source.finished;
    expect(source).toMatchObject({ overrun: 0, kernelDropped: 0, filtered: 0, mode: null, queues: [] });
    await expect(source.start(() => undefined)).rejects.toThrow('already started');
  });
});
