import type { LinkInfo, TopologyAnswer } from '../../client/index.js';
import { colour } from '../state/theme.js';
import type { Layout } from './layout.js';

/** Buckets of load: a colour, and one stroke, each. */
const BUCKETS = 12;
/** Links beyond which all are equally thick: as many strokes as colours. */
const MOST_THICK = 300;
const THICK = [1.2, 2.2, 3.4, 5] as const;

/** Load from 0 to 1 in colours that get lighter and warmer on dark ground, darker and warmer on light ground. */
const RAMPS = {
  dark: ['#2b4a63', '#5fb3e8', '#e8c95a', '#ff9a4d'],
  light: ['#c3d3e0', '#4f97cc', '#7a5aa6', '#c44a00'],
} as const;

/** What can be selected. */
export type Picked = { readonly kind: 'switch'; readonly id: number } | { readonly kind: 'link'; readonly key: string };

export interface Look {
  readonly theme: 'light' | 'dark';
  readonly name: (id: number) => string;
  readonly picked: Picked | null;
  /** Switches of a flow's path, which is drawn on top. */
  readonly path: readonly (number | null)[];
}

interface Drawn {
  readonly link: LinkInfo;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** The network on a canvas. It is drawn when it is told to. */
export class Picture {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  #width = 1;
  #height = 1;
  /** Zoom and shift, in pixels. */
  #scale = 1;
  #dx = 0;
  #dy = 0;
  #links: Drawn[] = [];
  #switches: { readonly id: number; readonly x: number; readonly y: number }[] = [];
  #size = 10;
  /** Times drawn. */
  drawn = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false })!;
  }

  resize(width: number, height: number): void {
    const ratio = Math.min(2, devicePixelRatio);
    this.#width = width;
    this.#height = height;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  fit(): void {
    this.#scale = 1;
    this.#dx = 0;
    this.#dy = 0;
  }

  /** @param x where the zoom is centred, in pixels of the canvas */
  zoom(by: number, x = this.#width / 2, y = this.#height / 2): void {
    const next = Math.max(1, Math.min(40, this.#scale * by));
    const ratio = next / this.#scale;
    this.#scale = next;
    this.#dx = x - (x - this.#dx) * ratio;
    this.#dy = y - (y - this.#dy) * ratio;
    if (next === 1) this.fit();
  }

  shift(dx: number, dy: number): void {
    if (this.#scale === 1) return;
    this.#dx += dx;
    this.#dy += dy;
  }

  draw({ links }: TopologyAnswer, layout: Layout, look: Look): void {
    this.drawn++;
    const context = this.#context;
    context.fillStyle = colour('panel');
    context.fillRect(0, 0, this.#width, this.#height);
    this.#size = Math.max(3, Math.min(13, layout.gap * this.#width * this.#scale * 0.3));
    this.#switches = [...layout.switches].map(([id, { x, y }]) => ({ id, ...this.#at(x, y) }));
    const places = new Map(this.#switches.map((each) => [each.id, each]));
    this.#links = placed(links, places, this.#size);
    this.#drawHosts(layout);
    this.#drawLinks(look);
    this.#drawSwitches(layout, look);
  }

  /** What is at a place of the canvas. */
  find(x: number, y: number): Picked | null {
    const reach = Math.max(9, this.#size + 3);
    for (const { id, x: cx, y: cy } of this.#switches) {
      if (Math.abs(cx - x) <= reach * 1.6 && Math.abs(cy - y) <= reach) return { kind: 'switch', id };
    }
    let best: Drawn | null = null;
    let least = 6;
    for (const each of this.#links) {
      const distance = distanceTo(each, x, y);
      if (distance < least) {
        least = distance;
        best = each;
      }
    }
    return best === null ? null : { kind: 'link', key: best.link.key };
  }

  #at(x: number, y: number): { x: number; y: number } {
    const margin = 34;
    return {
      x: (margin + x * (this.#width - 2 * margin)) * this.#scale + this.#dx,
      y: (margin * 0.6 + y * (this.#height - 1.2 * margin)) * this.#scale + this.#dy,
    };
  }

  #drawHosts({ hosts, switches }: Layout): void {
    if (hosts.length === 0) return;
    const context = this.#context;
    context.strokeStyle = colour('line');
    context.lineWidth = 1;
    context.beginPath();
    const labels: [string, number, number][] = [];
    for (const { name, x, y, switchId } of hosts) {
      const end = this.#at(x, y);
      const top = switches.get(switchId)!;
      const start = this.#at(top.x, top.y);
      context.moveTo(start.x, start.y);
      context.lineTo(end.x, end.y - 5);
      labels.push([name, end.x, end.y + 5]);
    }
    context.stroke();
    const room = (this.#width * this.#scale) / Math.max(1, hosts.length);
    if (room < 34) return;
    context.fillStyle = colour('dim');
    context.font = '10px system-ui, "DejaVu Sans", sans-serif';
    context.textAlign = 'center';
    for (const [name, x, y] of labels) context.fillText(cut(context, name, room - 2), x, y);
  }

  #drawLinks({ theme, picked, path }: Look): void {
    const context = this.#context;
    const isThick = this.#links.length <= MOST_THICK;
    const most = Math.max(1, ...this.#links.map(({ link }) => link.reportsPerSecond));
    const groups = new Map<string, Drawn[]>();
    const down: Drawn[] = [];
    for (const each of this.#links) {
      const { state, load, reportsPerSecond } = each.link;
      if (state === 'down') {
        down.push(each);
        continue;
      }
      const shade = state === 'unseen' ? -2 : load === null ? -1 : Math.min(BUCKETS - 1, Math.floor(load * BUCKETS));
      const thick = isThick ? Math.min(THICK.length - 1, Math.floor((reportsPerSecond / most) * THICK.length)) : 0;
      const key = `${shade} ${thick}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [each]);
      else group.push(each);
    }
    for (const [key, group] of [...groups].sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))) {
      const [shade = 0, thick = 0] = key.split(' ').map(Number);
      context.strokeStyle = shade < 0 ? colour('line') : shadeOf(theme, (shade + 0.5) / BUCKETS);
      context.lineWidth = isThick ? THICK[thick]! : 1;
      context.setLineDash(shade === -2 ? [2, 4] : []);
      this.#stroke(group);
    }
    context.setLineDash([]);
    this.#drawPath(path);
    this.#drawDown(down);
    if (picked?.kind === 'link') {
      context.strokeStyle = colour('text');
      context.lineWidth = 1.5;
      for (const each of this.#links.filter(({ link }) => link.key === picked.key)) outline(context, each, 5);
    }
  }

  /** Red, thick, dashed, and crossed out: not by its colour alone. */
  #drawDown(down: readonly Drawn[]): void {
    if (down.length === 0) return;
    const context = this.#context;
    context.strokeStyle = colour('down');
    context.lineWidth = 3;
    context.setLineDash([7, 5]);
    this.#stroke(down);
    context.setLineDash([]);
    context.beginPath();
    for (const { x1, y1, x2, y2 } of down) {
      const [x, y] = [x1 + (x2 - x1) * 0.4, y1 + (y2 - y1) * 0.4];
      context.moveTo(x - 6, y - 6);
      context.lineTo(x + 6, y + 6);
      context.moveTo(x + 6, y - 6);
      context.lineTo(x - 6, y + 6);
    }
    context.stroke();
  }

  #drawPath(path: readonly (number | null)[]): void {
    const context = this.#context;
    const steps = path.slice(1).flatMap((to, index) => {
      const from = path[index];
      return this.#links.filter(({ link }) => link.from === from && link.to === to).slice(0, 1);
    });
    context.strokeStyle = colour('text');
    context.lineWidth = 2;
    for (const step of steps) outline(context, step, 4);
  }

  #stroke(links: readonly Drawn[]): void {
    const context = this.#context;
    context.beginPath();
    for (const { x1, y1, x2, y2 } of links) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.stroke();
  }

  #drawSwitches({ gap }: Layout, { name, picked }: Look): void {
    const context = this.#context;
    const size = this.#size;
    context.fillStyle = colour('raised');
    context.strokeStyle = colour('dim');
    context.lineWidth = 1.2;
    context.beginPath();
    for (const { x, y } of this.#switches) context.rect(x - size * 1.5, y - size, size * 3, size * 2);
    context.fill();
    context.stroke();
    const chosen = picked?.kind === 'switch' ? this.#switches.find(({ id }) => id === picked.id) : undefined;
    if (chosen !== undefined) {
      context.strokeStyle = colour('accent');
      context.lineWidth = 3;
      context.strokeRect(chosen.x - size * 1.5 - 2, chosen.y - size - 2, size * 3 + 4, size * 2 + 4);
    }
    const room = gap * this.#width * this.#scale;
    if (room < 30) return;
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const { id, x, y } of this.#switches) {
      const text = cut(context, name(id), room - 4);
      const isInside = context.measureText(text).width <= size * 3 - 4;
      const below = isInside ? y : y - size - 8;
      if (!isInside) {
        context.fillStyle = colour('panel');
        const width = context.measureText(text).width;
        context.fillRect(x - width / 2 - 2, below - 7, width + 4, 14);
      }
      context.fillStyle = colour('text');
      context.fillText(text, x, below);
    }
    context.textBaseline = 'alphabetic';
  }
}

/** The two directions of a link lie beside each other, and parallel links beside these. */
function placed(
  links: readonly LinkInfo[],
  places: ReadonlyMap<number, { readonly x: number; readonly y: number }>,
  size: number,
): Drawn[] {
  const between = new Map<string, number>();
  const apart = Math.min(4, size / 2.4);
  return links.flatMap((link) => {
    const from = places.get(link.from);
    const to = places.get(link.to);
    if (from === undefined || to === undefined || link.from === link.to) return [];
    const pair = `${link.from} ${link.to}`;
    const index = between.get(pair) ?? 0;
    between.set(pair, index + 1);
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const offset = apart * (0.5 + index);
    const [nx, ny] = [(-(to.y - from.y) / length) * offset, ((to.x - from.x) / length) * offset];
    return [{ link, x1: from.x + nx, y1: from.y + ny, x2: to.x + nx, y2: to.y + ny }];
  });
}

function outline(context: CanvasRenderingContext2D, { x1, y1, x2, y2 }: Drawn, width: number): void {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [nx, ny] = [(-(y2 - y1) / length) * width, ((x2 - x1) / length) * width];
  context.beginPath();
  context.moveTo(x1 + nx, y1 + ny);
  context.lineTo(x2 + nx, y2 + ny);
  context.moveTo(x1 - nx, y1 - ny);
  context.lineTo(x2 - nx, y2 - ny);
  context.stroke();
}

function distanceTo({ x1, y1, x2, y2 }: Drawn, x: number, y: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const square = dx * dx + dy * dy || 1;
  const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / square));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return `${text.slice(0, length)}…`;
}

/** The colour of a load from 0 to 1. */
export function shadeOf(theme: 'light' | 'dark', load: number): string {
  const ramp = RAMPS[theme];
  const place = Math.max(0, Math.min(1, load)) * (ramp.length - 1);
  const index = Math.min(ramp.length - 2, Math.floor(place));
  const part = (text: string, k: number): number => Number.parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  const mixed = [0, 1, 2].map((k) => {
    const [a, b] = [part(ramp[index]!, k), part(ramp[index + 1]!, k)];
    return Math.round(a + (b - a) * (place - index));
  });
  return `rgb(${mixed.join(' ')})`;
}
