import type { MetricFamily } from '../definitions/definition.js';
import { type ExpositionForm, familyText } from './exposition.js';

/** The content of a page: plain data that can go to another thread. */
export interface PageContent extends ExpositionForm {
  readonly contentType: string;
  readonly families: readonly MetricFamily[];
  /** Families of other registries, as text in prom-client's form. */
  readonly texts: readonly string[];
}

/** A page as it is sent. */
export interface Page {
  readonly contentType: string;
  readonly body: Buffer;
  /** Samples left out because the page would be too long: whole metrics, the longest first. */
  readonly omitted: number;
}

/** A part of a page. */
interface Part {
  readonly text: string;
  readonly bytes: number;
}

const partOf = (text: string): Part => ({ text, bytes: Buffer.byteLength(text) + 2 });
/** Lines of a part without HELP and TYPE. */
const samplesOf = ({ text }: Part): number => text.split('\n').length - 2;

/**
 * Renders a page.
 * @param mostBytes the longest page; metrics without room are left out whole, because half a metric would look like a
 *   loss
 */
export function renderPage(content: PageContent, mostBytes: number): Page {
  const parts = [...content.families.map((family) => familyText(family, content)), ...content.texts].map(partOf);
  let bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  let omitted = 0;
  const left = new Set(parts);
  for (const part of [...parts].sort((a, b) => b.bytes - a.bytes)) {
    if (bytes <= mostBytes) break;
    left.delete(part);
    bytes -= part.bytes;
    omitted += samplesOf(part);
  }
  const { contentType, isOpenMetrics } = content;
  const texts = [...left].map(({ text }) => text);
  const body = isOpenMetrics ? `${[...texts, '# EOF'].join('\n')}\n` : `${texts.join('\n\n')}\n`;
  return { contentType, body: Buffer.from(body), omitted };
}
