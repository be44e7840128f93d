import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaSource } from '@int/sink-kafka';
import { Producer } from '@platformatic/kafka';
import { describe, expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import { newName } from '../topic.js';
import { makeTopic, messages, REPORTS, read, send, sorted, until } from './reading.js';

// The first test that needs Kafka starts it, for all files.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

describe('a topic as a source', () => {
  it('gives the reports as they were, in either format, and goes on where the group was', async () => {
    const { bootstrap } = await kafkaForTests();
    const topic = await makeTopic(bootstrap);
    const json = messages('json', 1);
    const protobuf = messages('protobuf', 2);
    const group = newName('group');
    await send(bootstrap, topic, json.slab);
    const first = await read({ bootstrap, topic, group });
    await until(() => first.keeper.kept.length === REPORTS);
    const totals = await first.collector.stop();
    expect(totals).toMatchObject({ received: REPORTS, decoded: REPORTS, reports: REPORTS });
    expect(first.source.totals()).toEqual({ messages: REPORTS, repeats: 0 });
    expect(sorted(first.keeper.kept)).toEqual(sorted(json.records.values()));

    await send(bootstrap, topic, protobuf.slab);
    const second = await read({ bootstrap, topic, group, capacity: { frames: 64 } });
    await until(() => second.keeper.kept.length === REPORTS);
    await second.collector.stop();
    expect(sorted(second.keeper.kept)).toEqual(sorted(protobuf.records.values()));
  });

  it('leaves out what was written twice, and counts what is no report', async () => {
    const { bootstrap } = await kafkaForTests();
    const topic = await makeTopic(bootstrap);
    const { slab, records } = messages('protobuf', 3);
    await send(bootstrap, topic, slab, 0, 400);
    await send(bootstrap, topic, slab, 200, REPORTS);
    const producer = new Producer({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
    const bad = [Buffer.from('{"type":"report"'), Buffer.from([0x09, 1, 2]), Buffer.alloc(0), Buffer.from('hello')];
    await producer.send({ messages: bad.map((value) => ({ topic, value, partition: 0 })) });
    await producer.close();
    const { collector, keeper, source } = await read({ bootstrap, topic, group: newName('group') });
    const all = REPORTS + 200 + bad.length;
    await until(
      () => source.totals().messages >= all,
      () => ({ ...source.totals(), health: source.health(), kept: keeper.kept.length }),
    );
    const totals = await collector.stop();
    // A message that is read again, since the group was shared out anew, is a repeat as well; or, if it is no report and
    // so has no id, it is dropped again.
    const { messages: taken, repeats } = source.totals();
    const dropped = totals.dropped.truncated + totals.dropped.malformed;
    expect(repeats + dropped).toBe(taken - REPORTS);
    expect(dropped).toBeGreaterThanOrEqual(bad.length);
    expect(repeats).toBeGreaterThanOrEqual(200);
    expect(sorted(keeper.kept)).toEqual(sorted(records.values()));
    expect(totals.received).toBe(totals.decoded + Object.values(totals.dropped).reduce((sum, count) => sum + count, 0));
  });

  it('is shared by the members of a group, and nothing is lost when one joins and one leaves', async () => {
    const { bootstrap } = await kafkaForTests();
    const topic = await makeTopic(bootstrap);
    const { slab, records } = messages('protobuf', 4);
    const options = { bootstrap, topic, group: newName('group'), sessionMs: 6000 };
    const one = await read(options);
    await send(bootstrap, topic, slab, 0, 100);
    const two = await read(options);
    // One learns of the other with its next sign of life.
    for (let from = 100; from < 500; from += 50) {
      await send(bootstrap, topic, slab, from, from + 50);
      await sleep(300);
    }
    await one.collector.stop();
    await send(bootstrap, topic, slab, 500, REPORTS);
    const seen = (): Set<string> => new Set(sorted([...one.keeper.kept, ...two.keeper.kept]));
    await until(() => seen().size === REPORTS);
    await two.collector.stop();
    expect(seen()).toEqual(new Set(sorted(records.values())));
    expect(one.keeper.kept.length).toBeGreaterThan(0);
    expect(two.keeper.kept.length).toBeGreaterThan(100);
  });

  it('cannot be opened without a broker, or without the topic', async () => {
    const nobody = new KafkaSource({ bootstrap: ['127.0.0.1:1'], connectTimeoutMs: 500, requestTimeoutMs: 500 });
    await expect(nobody.start(() => undefined)).rejects.toMatchObject({ code: 'ERR_SOURCE_OPEN' });
    const { bootstrap } = await kafkaForTests();
    const nothing = new KafkaSource({ bootstrap, topic: newName('none'), requestTimeoutMs: 2000 });
    await expect(nothing.start(() => undefined)).rejects.toMatchObject({ code: 'ERR_SOURCE_OPEN' });
  });

  it('refuses options that make no sense', () => {
    expect(() => new KafkaSource({ bootstrap: [] })).toThrow(RangeError);
    expect(() => new KafkaSource({ bootstrap: ['nowhere'] })).toThrow(TypeError);
    expect(() => new KafkaSource({ bootstrap: ['a:1'], commitMs: -1 })).toThrow(RangeError);
    expect(() => new KafkaSource({ bootstrap: ['a:1'], topic: '' })).toThrow(RangeError);
  });
});
