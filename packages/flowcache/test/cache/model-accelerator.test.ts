import { describe } from 'vitest';
import { testAgainstModel } from './model-run.js';

describe('in WebAssembly', () => testAgainstModel(true));
