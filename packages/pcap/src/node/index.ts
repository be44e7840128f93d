export { gunzipIfNeeded } from './gunzip.js';
export { openReadable } from './open-stream.js';
export { openCapture } from './read-file.js';
export { CaptureFile, type CaptureFileOptions, createCaptureFile } from './write-file.js';
