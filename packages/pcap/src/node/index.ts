export { gunzipIfNeeded } from './gunzip.js';
export { captureChunks, openCapture } from './read-file.js';
export { CaptureFile, type CaptureFileOptions, createCaptureFile } from './write-file.js';
