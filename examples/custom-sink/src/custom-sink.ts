// Posts what a rule finds to an address on the web, a line of JSON per event. The sink is the object `post`.
import { Collector, DetectionStage, eventRecord, QueuedSink, RecordIds, type Sink, UdpSource } from '@int/collector';
import { readRules } from '@int/detect/yaml';

const [port = '32766', url = 'http://127.0.0.1:8080/events'] = process.argv.slice(2);
const rules = readRules(`
version: 1
units: { hopLatency: ns }
rules: [{ name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 100us, scope: hop } } }]
`);
const ids = new RecordIds();
const post: Sink = {
  name: 'post',
  records: ['events'],
  write: () => undefined,
  async writeEvents(events) {
    const line = (row: number): string => JSON.stringify(eventRecord(events, row, ids.text(ids.next++)));
    const body = Array.from({ length: events.count }, (_, row) => `${line(row)}\n`).join('');
    const answer = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`${url}: HTTP ${answer.status}`);
  },
};
const source = new UdpSource({ address: `udp://0.0.0.0:${port}` });
const sink = new QueuedSink(post, { batches: 64, onProblem: ({ message }) => console.error(message) });
const collector = new Collector({ sources: [source], stages: [new DetectionStage(rules)], sinks: [sink] });
await collector.start();
console.log(`listening on UDP port ${source.address.port}`);
process.once('SIGTERM', () => collector.stop(5000).then(({ sinks }) => console.log(JSON.stringify(sinks))));
