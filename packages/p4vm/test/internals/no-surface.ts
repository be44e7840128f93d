import type { ControlSurface } from '../../src/ir/control-surface.js';

/** The surface of a program that says nothing about itself. */
export const NO_SURFACE: ControlSurface = {
  annotations: new Map(),
  types: new Map(),
  typeArguments: new Map(),
  sizes: new Map(),
  digests: [],
  declared: new Map(),
  controllerHeaders: [],
  program: [],
};
