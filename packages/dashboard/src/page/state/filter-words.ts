import { FILTER_FIELDS } from '../../filter/index.js';
import { quoted } from '../format/text.js';
import { network } from './network.js';

/** A word that can replace a part of the filter. */
export interface Suggestion {
  readonly text: string;
  readonly about: string;
  readonly start: number;
  readonly end: number;
}

const MOST = 9;
const OPERATORS: Readonly<Record<string, string>> = {
  switch: '=',
  address: ' in ',
  port: '=',
  protocol: '=',
  hop: '>',
  number: '>',
  seconds: '>',
  text: '=',
  state: '',
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  proto: ['tcp', 'udp', 'icmp'],
  state: ['begin', 'update', 'end', 'once'],
  severity: ['info', 'warning', 'critical'],
};

/** What could be meant at a place of the filter: a field, or a value of the field before it. */
export function suggestionsFor(text: string, at: number): Suggestion[] {
  const before = text.slice(0, at);
  const [, field, , part = ''] = /([A-Za-z]+)\s*(=|!=|~|!~|\bin\b)\s*([^\s()=<>~!,&|"']*)$/.exec(before) ?? [];
  if (field !== undefined) {
    const values = valuesOf(field.toLowerCase());
    return values
      .filter(({ text: value }) => value.toLowerCase().includes(part.toLowerCase()) && value !== part)
      .slice(0, MOST)
      .map(({ text: value, about }) => ({ text: quoted(value), about, start: at - part.length, end: at }));
  }
  const [word = ''] = /[A-Za-z]*$/.exec(before) ?? [];
  if (before.length > word.length && !/[\s(!]$/.test(before.slice(0, before.length - word.length))) return [];
  return FILTER_FIELDS.filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()))
    .slice(0, MOST)
    .map(({ name, kind, text: about }) => ({
      text: `${name}${OPERATORS[kind]}`,
      about,
      start: at - word.length,
      end: at,
    }));
}

function valuesOf(field: string): { text: string; about: string }[] {
  if (field === 'switch' || field === 'node') {
    return (network.value?.switches ?? []).map(({ id, name }) => ({
      text: name ?? String(id),
      about: name === null ? 'switch' : `switch ${id}`,
    }));
  }
  return (VALUES[field] ?? []).map((text) => ({ text, about: '' }));
}
