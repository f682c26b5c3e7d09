/** What every job of every run carries: 120 bytes of JSON. */
export const PAYLOAD = {
  path: 'uploads/2026/11/photo-000001.jpg',
  width: 1920,
  height: 1080,
  format: 'webp',
  quality: 82,
  user: 'u-0001',
  tag: 'aaaaaa',
}

export const PAYLOAD_BYTES = JSON.stringify(PAYLOAD).length
