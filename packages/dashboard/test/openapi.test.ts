import { Collector, DetectionStage } from '@int/collector';
import { readRules } from '@int/detect/yaml';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { PlainControl } from './plain-control.js';
import { RecordSource } from './record-source.js';

const RULES = `
version: 1
default: drop
rules:
  - { name: any, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 1200, scope: hop } } }
`;

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly responses: Record<string, { content: Record<string, { schema: { $ref: string } }> }> }
        >
      >
    >
  >;
}

test('every answer is as the OpenAPI document describes it', async () => {
  const control = new PlainControl();
  control.happen('seen', 3);
  const dashboard = await openDashboard({ control });
  const source = new RecordSource();
  const collector = new Collector({
    sources: [source],
    stages: [new DetectionStage(readRules(RULES))],
    sinks: [dashboard],
  });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  try {
    await collector.start();
    for (let round = 0; round < 5; round++) source.send(100);
    source.pass(300);
    const ask = (path: string, body?: unknown): Promise<Response> =>
      fetch(new URL(`api/v1/${path}`, dashboard.url), {
        ...(body !== undefined && {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      });
    const document = (await (await ask('openapi.json')).json()) as Document;
    const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({ $id: 'document', ...document });
    const events = await until('events', async () => {
      const answer = (await (await ask('events?limit=3')).json()) as { rows: { id: string; reportId: string }[] };
      return answer.rows.length > 0 ? answer.rows : null;
    });
    const check = async (path: string, template: string, body?: unknown): Promise<void> => {
      const response = await ask(path, body);
      const answers = document.paths[template]![body === undefined ? 'get' : 'post']!.responses;
      const { schema } = (answers[response.status] ?? answers.default)!.content['application/json']!;
      const validate = ajv.compile({ $ref: `document${schema.$ref}` });
      const isValid = validate(await response.json());
      expect([isValid, validate.errors?.slice(0, 3)], path).toEqual([true, undefined]);
    };
    const [event] = events;
    await check('status', '/api/v1/status');
    await check('topology', '/api/v1/topology');
    await check('series?metric=latencyP99&entity=all&entity=switch:1', '/api/v1/series');
    await check('series?metric=nothing', '/api/v1/series');
    await check('flows?limit=10&filter=switch%3D1', '/api/v1/flows');
    await check('worst?metric=occupancy&kind=queue', '/api/v1/worst');
    await check('worst?metric=occupancy&kind=nothing', '/api/v1/worst');
    await check('events?limit=10', '/api/v1/events');
    await check(`events/${event!.id}`, '/api/v1/events/{id}');
    await check('events/none', '/api/v1/events/{id}');
    await check('reports?limit=10', '/api/v1/reports');
    await check(`reports/${event!.reportId}`, '/api/v1/reports/{id}');
    await check(`reports/${event!.reportId}/biography`, '/api/v1/reports/{id}/biography');
    await check('rules', '/api/v1/rules');
    await check('rules/check', '/api/v1/rules/check', { yaml: RULES });
    await check('rules/check', '/api/v1/rules/check', { yaml: 'version: 1\nrules: 5\n' });
    await check('rules/dry-run', '/api/v1/rules/dry-run', { yaml: RULES });
    await check('rules/tables', '/api/v1/rules/tables', { yaml: RULES });
    await check('query', '/api/v1/query', { sql: 'select 1' });
    await check('queries', '/api/v1/queries');
    await check('replays', '/api/v1/replays');
    await check('annotations', '/api/v1/annotations', { text: 'a note' });
    await check('annotations', '/api/v1/annotations');
    await check('replays', '/api/v1/replays', { from: 0, to: 1, speed: 1 });
    await check('control', '/api/v1/control');
    await check('control/incidents?limit=3', '/api/v1/control/incidents');
    await check('control/incidents/none', '/api/v1/control/incidents/{id}');
    await check('control/hosts', '/api/v1/control/hosts');
    await check('control/proposals?state=live', '/api/v1/control/proposals');
    await check('control/proposals/path-x-3', '/api/v1/control/proposals/{id}');
    await check('control/journal?limit=2', '/api/v1/control/journal');
    await check('control/orders', '/api/v1/control/orders', { order: 'stop', by: 'ann' });
    await check('control/orders', '/api/v1/control/orders', { order: 'withdraw' });
  } finally {
    await collector.stop();
  }
});
