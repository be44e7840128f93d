import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemError } from '../../src/errors.js';
import { umemBytes, XdpBatch, XdpError, type XdpErrorCode, XdpSocket } from '../../src/index.js';
import { Waiting } from '../../src/waiting.js';
import { SEED } from '../seed.js';

/** What a promise is rejected with. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not rejected');
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('without the addon', () => {
  // It is loaded once for a process: these modules have not seen it yet.
  let fresh: typeof import('../../src/index.js');
  beforeEach(async () => {
    vi.resetModules();
    fresh = await import('../../src/index.js');
  });

  it('everything can be imported, and says what is missing when it is used', async () => {
    vi.stubEnv('INT_AFXDP_ADDON', '/nowhere/afxdp.node');
    const support = fresh.xdpSupport();
    expect(support).toMatchObject({ ok: false, error: { code: 'ERR_XDP_NOT_BUILT', syscall: null, errno: null } });
    expect(() => fresh.queueCount('lo')).toThrow('npm run build:native');
    const error = await rejection(fresh.XdpSocket.open({ interface: 'lo' }));
    expect(XdpError.is(error) && error.code).toBe('ERR_XDP_NOT_BUILT');
  });

  it('a file that is no addon is not taken for one', () => {
    vi.stubEnv('INT_AFXDP_ADDON', import.meta.filename);
    expect(fresh.xdpSupport()).toMatchObject({ ok: false, error: { code: 'ERR_XDP_NOT_BUILT' } });
  });

  it('another system than Linux is told from a missing addon', () => {
    const platform = Object.getOwnPropertyDescriptor(process, 'platform')!;
    Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
    try {
      expect(fresh.xdpSupport('en0')).toMatchObject({ ok: false, error: { code: 'ERR_XDP_PLATFORM' } });
    } finally {
      Object.defineProperty(process, 'platform', platform);
    }
  });
});

describe('options', () => {
  it('say how much memory the frames need', () => {
    expect(umemBytes()).toBe(4096 * 2048 + 4096);
    expect(umemBytes({ frames: 64, txFrames: 32, frameSize: 4096 })).toBe(96 * 4096 + 4096);
    expect(() => umemBytes({ frames: 100 })).toThrow(RangeError);
    expect(() => umemBytes({ frames: 2 ** 31 })).toThrow(RangeError);
    expect(() => umemBytes({ frames: 2 ** 20, frameSize: 4096 })).toThrow('4 GiB');
    expect(() => umemBytes({ txFrames: -1 })).toThrow(RangeError);
  });

  it.each([
    [{ queue: -1 }, RangeError],
    [{ queue: 1.5 }, RangeError],
    [{ frames: 0 }, RangeError],
    [{ txFrames: 3 }, RangeError],
    [{ program: -1 }, RangeError],
    [{ program: { interface: 'other', mode: 'driver', socketMap: 3 } }, RangeError],
    [{ memory: new Uint8Array(100) }, RangeError],
    [{ interface: '' }, XdpError],
  ] as const)('that are out of range are refused before anything is opened: %j', async (wrong, kind) => {
    vi.stubEnv('INT_AFXDP_ADDON', '/nowhere/afxdp.node');
    const error = await rejection(XdpSocket.open({ interface: 'eth0', ...wrong }));
    expect(error).toBeInstanceOf(kind);
    expect(error).not.toMatchObject({ code: 'ERR_XDP_NOT_BUILT' });
  });
});

describe('a batch', () => {
  it('has its columns where it is told to', () => {
    const words = new Uint32Array(64);
    let next = 8;
    const batch = new XdpBatch(16, {
      words(count) {
        next += count;
        return words.subarray(next - count, next);
      },
    });
    expect([batch.capacity, batch.count]).toEqual([16, 0]);
    expect([batch.offsets.byteOffset, batch.lengths.byteOffset]).toEqual([8 * 4, 24 * 4]);
    expect(batch.offsets.buffer).toBe(words.buffer);
  });

  it('refuses memory that gives something else', () => {
    expect(() => new XdpBatch(16, { words: () => new Uint32Array(15) })).toThrow(TypeError);
    expect(() => new XdpBatch(0)).toThrow(RangeError);
    expect(() => new XdpBatch(1.5)).toThrow(RangeError);
    expect(() => new XdpBatch(2 ** 40)).toThrow(RangeError);
  });
});

describe('a failure of the kernel', () => {
  const cases: readonly (readonly [syscall: string, errno: number, code: XdpErrorCode])[] = [
    ['socket(AF_XDP)', 1, 'ERR_XDP_PERMISSION'],
    ['BPF_MAP_CREATE', 1, 'ERR_XDP_PERMISSION'],
    ['BPF_PROG_LOAD', 1, 'ERR_XDP_PERMISSION'],
    ['BPF_LINK_CREATE', 1, 'ERR_XDP_PERMISSION'],
    ['socket(AF_XDP)', 97, 'ERR_XDP_KERNEL'],
    ['XDP_UMEM_REG', 105, 'ERR_XDP_MEMLOCK'],
    ['sendto', 105, 'ERR_XDP_SYSTEM'],
    ['SIOCGIFINDEX', 19, 'ERR_XDP_NO_DEVICE'],
    ['SO_ERROR', 100, 'ERR_XDP_DOWN'],
    ['sendto', 6, 'ERR_XDP_NO_DEVICE'],
    ['bind', 16, 'ERR_XDP_BUSY'],
    ['BPF_LINK_CREATE', 16, 'ERR_XDP_BUSY'],
    ['BPF_LINK_CREATE', 17, 'ERR_XDP_BUSY'],
    ['BPF_LINK_CREATE', 34, 'ERR_XDP_MTU'],
    ['BPF_LINK_CREATE', 95, 'ERR_XDP_NO_DRIVER_SUPPORT'],
    ['bind', 524, 'ERR_XDP_NO_DRIVER_SUPPORT'],
    ['XDP_UMEM_REG', 12, 'ERR_XDP_SYSTEM'],
    ['XDP_UMEM_REG', 9999, 'ERR_XDP_SYSTEM'],
  ];

  it.each(cases)('%s with error number %i is %s', (syscall, errno, code) => {
    const error = systemError(syscall, errno, { interface: 'eth7', queue: 0, queues: 1 });
    expect(error).toMatchObject({ code, syscall });
    expect(error.errno).toMatch(/^E[A-Z0-9]+$/);
    expect(error.message).toContain(`${syscall} on eth7 queue 0 failed with ${error.errno}`);
    expect(error.message.endsWith(error.hint)).toBe(true);
  });

  it('EINVAL of bind is a queue that is missing only if it is', () => {
    expect(systemError('bind', 22, { queue: 3, queues: 2 })).toMatchObject({ code: 'ERR_XDP_QUEUE' });
    expect(systemError('bind', 22, { queue: 1, queues: 2 })).toMatchObject({ code: 'ERR_XDP_SYSTEM' });
  });

  it('with words of the verifier is of the program, not of rights', () => {
    const error = systemError('BPF_PROG_LOAD', 13, {}, 'R1 is not a pointer\n');
    expect(error.code).toBe('ERR_XDP_VERIFIER');
    expect(error.message).toContain('R1 is not a pointer');
  });

  it('names the capability', () => {
    for (const syscall of ['socket(AF_XDP)', 'BPF_MAP_CREATE', 'BPF_LINK_CREATE']) {
      expect(systemError(syscall, 1).message).toMatch(/CAP_(NET_RAW|NET_ADMIN|BPF)/);
    }
    expect(systemError('socket(AF_XDP)', 1).message).toContain('CAP_NET_RAW');
    expect(systemError('BPF_LINK_CREATE', 1).message).toContain('CAP_NET_ADMIN');
  });

  it('is known across copies of the package', () => {
    const error = systemError('bind', 16);
    expect(XdpError.is(error)).toBe(true);
    expect(XdpError.is(new Error('bind'))).toBe(false);
    expect(XdpError.is(null)).toBe(false);
  });
});

describe('waits over one thread', () => {
  /** A thread that does what the test says: it counts what it is asked for. */
  class Thread {
    readonly starts: number[] = [];
    cancels = 0;
    start = (timeoutMs: number): void => {
      this.starts.push(timeoutMs);
    };
    cancel = (): void => {
      this.cancels++;
    };
  }

  it('start it once, for the earliest end, and again for what is left', async () => {
    const thread = new Thread();
    const waiting = new Waiting(thread);
    const long = waiting.wait(1e6);
    expect(thread.starts).toHaveLength(1);
    const short = waiting.wait(0);
    expect([thread.starts.length, thread.cancels]).toEqual([1, 1]);
    waiting.wait(2e6);
    expect(thread.cancels).toBe(1);
    // The thread's answer to the cancellation: the short one is over, the thread goes on for the long one.
    waiting.settle(false);
    expect(await short).toBe(false);
    expect(thread.starts).toHaveLength(2);
    expect(thread.starts[1]).toBeGreaterThan(9e5);
    waiting.settle(true);
    expect(await long).toBe(true);
    expect([waiting.isIdle, thread.starts.length]).toEqual([true, 2]);
  });

  it('without end ask for one without end', async () => {
    const thread = new Thread();
    const waiting = new Waiting(thread);
    const wait = waiting.wait(Number.POSITIVE_INFINITY);
    expect(thread.starts).toEqual([-1]);
    waiting.end();
    expect(await wait).toBe(false);
  });

  it('end with the error of the thread, also of one that does not start', async () => {
    const thread = new Thread();
    const waiting = new Waiting(thread);
    const gone = new Error('gone');
    const waits = [waiting.wait(1e6), waiting.wait(1e6)];
    waiting.fail(gone);
    expect(await Promise.all(waits.map(rejection))).toEqual([gone, gone]);
    thread.start = () => {
      throw gone;
    };
    expect(await rejection(waiting.wait(1e6))).toBe(gone);
    expect(waiting.isIdle).toBe(true);
  });

  it('each come to exactly one result, whatever the thread does', async () => {
    const step = fc.oneof(
      fc.record({ call: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 1e6, Number.POSITIVE_INFINITY) }),
      fc.constantFrom({ call: 'ready' as const }, { call: 'time' as const }, { call: 'error' as const }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const thread = new Thread();
        const waiting = new Waiting(thread);
        const results: Promise<unknown>[] = [];
        let answers = 0;
        for (const one of steps) {
          if (one.call === 'wait') {
            results.push(waiting.wait(one.ms).catch((error: unknown) => error));
            continue;
          }
          // The thread gives one result for every start.
          if (answers === thread.starts.length) continue;
          answers++;
          if (one.call === 'error') waiting.fail('error');
          else waiting.settle(one.call === 'ready');
        }
        expect(thread.starts.length - answers).toBe(waiting.isIdle ? 0 : 1);
        waiting.end();
        for (const result of await Promise.all(results)) expect([true, false, 'error']).toContain(result);
      }),
      { seed: SEED },
    );
  });
});
