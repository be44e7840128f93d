export { CaptureError, type CaptureErrorCode } from './capture-error.js';
export { CaptureReader, type CaptureReaderOptions } from './capture-reader.js';
export type { CaptureWriter, FrameInput } from './capture-writer.js';
export type { ByteOrder } from './format-parser.js';
export { CaptureBatch, CaptureFrame, type CaptureInterface, type Frame } from './frame.js';
export { LinkType } from './link-type.js';
export { encodePcapHeader, encodePcapRecord, type PcapOptions, PcapWriter } from './pcap-writer.js';
export { type PcapngInterface, type PcapngOptions, PcapngWriter } from './pcapng-writer.js';
export { readCapture, readCaptureStream } from './read-capture.js';
