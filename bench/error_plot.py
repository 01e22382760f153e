def error_plot(points):
    return ""
