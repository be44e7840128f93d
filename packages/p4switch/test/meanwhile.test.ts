import { ForwardingLoop, SoftSwitch } from '@int/p4switch';
import { describe, expect, it, onTestFinished } from 'vitest';
import { frame, programOf, TO_A } from './programs.js';
import { TestPort } from './test-port.js';

function looped(turnMs: number): { core: SoftSwitch; loop: ForwardingLoop; input: TestPort; output: TestPort } {
  const core = new SoftSwitch();
  const [input, output] = [new TestPort(), new TestPort()];
  core.addPort(1, input);
  core.addPort(2, output);
  core.load(programOf(TO_A));
  const loop = new ForwardingLoop([core], { turnMs });
  onTestFinished(async () => {
    await loop.stop();
    await core.close();
  });
  return { core, loop, input, output };
}

describe('a turn in the middle of long work', () => {
  it('forwards what has arrived, though the event loop gets no turn', () => {
    const { loop, input, output } = looped(1e-6);
    loop.start();
    input.arriving.push(frame(2), frame(2, 1));
    loop.meanwhile();
    expect(output.sent).toEqual([frame(2), frame(2, 1)]);
  });

  it('waits until the last turn is long enough ago', () => {
    const { loop, input, output } = looped(1e9);
    loop.start();
    input.arriving.push(frame(2));
    loop.meanwhile();
    expect(output.sent).toEqual([]);
  });

  it('has no effect before the start, after the end, and within a turn', async () => {
    const { core, loop, input, output } = looped(1e-6);
    input.arriving.push(frame(2));
    loop.meanwhile();
    expect(output.sent).toEqual([]);
    let depth = 0;
    let deepest = 0;
    const { turn } = core;
    core.turn = (most) => {
      deepest = Math.max(deepest, ++depth);
      loop.meanwhile();
      const moved = turn.call(core, most);
      depth--;
      return moved;
    };
    loop.start();
    expect(output.sent).toEqual([frame(2)]);
    expect(deepest).toBe(1);
    await loop.stop();
    input.arriving.push(frame(2));
    loop.meanwhile();
    expect(output.sent.length).toBe(1);
  });

  it('comes while the switch compiles another program, which changes nothing until it is put to work', () => {
    const { core, loop, input, output } = looped(1e-6);
    loop.start();
    input.arriving.push(frame(2));
    const next = core.prepare(
      programOf('s.egress_spec = 1;'),
      () => {},
      () => {
        if (output.sent.length < 5) input.arriving.push(frame(2, output.sent.length));
        loop.meanwhile();
      },
    );
    expect(output.sent.map((each) => each[1])).toEqual([0, 0, 2, 3, 4]);
    core.use(next);
    input.sent.length = 0;
    input.arriving.push(frame(2));
    loop.meanwhile();
    expect(input.sent).toEqual([frame(2)]);
  });
});
