import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` serves the sources and passes API calls on to a running `./millrace up`.
const api = process.env["MILLRACE_API"] ?? "http://127.0.0.1:8642";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  server: { proxy: { "/v1": api, "/docs": api, "/learn": api, "/openapi.json": api } },
  build: {
    target: "es2022",
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "charts", test: /node_modules[\\/](echarts|zrender|tslib)[\\/]/ },
            { name: "react", test: /node_modules[\\/]/ },
          ],
        },
      },
    },
  },
});
