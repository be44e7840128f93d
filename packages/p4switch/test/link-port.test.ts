import { ForwardingLoop, LinkPort, SoftSwitch } from '@int/p4switch';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { until } from '../../../.ci/test/until.js';
import { frame, programOf, TO_A } from './programs.js';
import { TestPort } from './test-port.js';

describe('a link', () => {
  it('brings frames in order, once, as a queue does (model)', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.record({ send: fc.uint8Array({ minLength: 1, maxLength: 80 }) }), fc.record({ take: fc.nat(9) })),
          {
            maxLength: 60,
          },
        ),
        (steps) => {
          const [left, right] = LinkPort.pair(['a', 'b'], { capacity: 5 });
          const model: Uint8Array[] = [];
          let dropped = 0;
          for (const step of steps) {
            if ('send' in step) {
              const padded = Uint8Array.of(9, 9, ...step.send, 9);
              if (model.length < 5) model.push(step.send);
              else dropped++;
              left.send(padded, 2, step.send.length);
            } else {
              const got: Uint8Array[] = [];
              right.poll(step.take, (bytes, offset, length) => got.push(bytes.slice(offset, offset + length)));
              expect(got).toEqual(model.splice(0, step.take));
            }
            expect(left.room()).toBe(5 - model.length);
          }
          expect(left.counts().dropped.txFull).toBe(dropped);
          expect(left.counts().sent).toBe(right.counts().received + model.length);
        },
      ),
      { numRuns: runs(1000), seed: 3 },
    );
  });

  it('takes its time, and joins switches of a loop', async () => {
    const [first, second] = [new SoftSwitch(), new SoftSwitch()];
    const [left, right] = LinkPort.pair(['first:2', 'second:1'], { delayMs: 20 });
    const [input, output] = [new TestPort(), new TestPort()];
    first.addPort(1, input);
    first.addPort(2, left);
    second.addPort(1, right);
    second.addPort(3, output);
    first.load(programOf('s.egress_spec = 2;'));
    second.load(programOf(TO_A));
    input.arriving.push(frame(3), frame(3, 1));
    const start = performance.now();
    const loop = new ForwardingLoop([first, second]);
    loop.start();
    await until('both frames', () => output.sent.length === 2);
    expect(performance.now() - start).toBeGreaterThan(19);
    expect(output.sent).toEqual([frame(3), frame(3, 1)]);
    await loop.stop();
    await Promise.all([first.close(), second.close()]);
    left.send(frame(1), 0, 60);
    expect(left.counts().dropped.down).toBe(1);
  });

  it('has limits', () => {
    expect(() => LinkPort.pair(['a', 'b'], { delayMs: -1 })).toThrow(RangeError);
    expect(() => LinkPort.pair(['a', 'b'], { capacity: 0 })).toThrow(RangeError);
    const [left] = LinkPort.pair(['a', 'b']);
    left.send(new Uint8Array(300_000), 0, 300_000);
    expect(left.counts().dropped.txTooLong).toBe(1);
  });
});
